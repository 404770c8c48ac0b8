# SPDX-License-Identifier: Apache-2.0
"""How fast the usual Python tools read data: `data_peer.py csv READER FILE` or `images FOLDER WORKERS`. Prints JSON."""
import json
import os
import sys
import time


def pandas_c(path):
    import pandas
    start = time.perf_counter()
    table = pandas.read_csv(path, engine="c")
    return time.perf_counter() - start, len(table), f"pandas {pandas.__version__}"


def polars_threads(path):
    import polars
    start = time.perf_counter()
    table = polars.read_csv(path)
    return time.perf_counter() - start, len(table), f"polars {polars.__version__}"


def csv(reader, path):
    if reader.startswith("polars"):
        os.environ["POLARS_MAX_THREADS"] = reader.split("-")[1]
    read = pandas_c if reader == "pandas" else polars_threads
    read(path)  # the first call loads and warms up the library
    seconds, rows, version = read(path)
    return {"seconds": seconds, "rows": rows, "version": version}


def images(folder, workers):
    import torch
    import torchvision
    from torchvision import transforms
    torch.set_num_threads(1)
    steps = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(),
                                transforms.PILToTensor()])
    data = torchvision.datasets.ImageFolder(folder, steps)
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True, num_workers=int(workers),
                                         persistent_workers=int(workers) > 0)
    def epoch():
        start, count = time.perf_counter(), 0
        for x, _ in loader:
            count += len(x)
        return count / (time.perf_counter() - start)
    epoch()
    return {"images_per_s": epoch(), "version": f"torch {torch.__version__}, torchvision {torchvision.__version__}"}


if __name__ == "__main__":
    print(json.dumps({"csv": csv, "images": images}[sys.argv[1]](*sys.argv[2:])))
