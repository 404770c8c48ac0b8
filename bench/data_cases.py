# SPDX-License-Identifier: Apache-2.0
"""Data for the benchmark of loading: written once to a folder. `python data_cases.py KIND FOLDER`; the images need
Pillow, so it is the peers' Python that makes them."""
import glob
import os
import random
import sys

CSV_BYTES = 100_000_000
COLUMNS = 20
IMAGES, CLASSES, SIZE = 5000, 10, (500, 375)
PHOTOGRAPHS = "/usr/lib/python3/dist-packages/sklearn/datasets/images/*.jpg"


def make_csv(folder):
    """Numbers as people have them: measurements of a few digits, some with an exponent, and counts."""
    path = f"{folder}/numbers.csv"
    if os.path.exists(path):
        return path
    rng = random.Random(1)
    def row():
        return ",".join([f"{rng.gauss(0, 1):.6f}" for _ in range(COLUMNS - 4)] +
                        [f"{rng.gauss(0, 1e-5):.4e}" for _ in range(2)] + [str(rng.randrange(100000)) for _ in range(2)])
    rows = [row() for _ in range(10000)]
    written = 0
    with open(path + ".part", "w") as out:
        out.write(",".join(f"c{i}" for i in range(COLUMNS)) + "\n")
        while written < CSV_BYTES:
            text = "\n".join(rng.sample(rows, 1000)) + "\n"
            out.write(text)
            written += len(text)
    os.replace(path + ".part", path)
    return path


def make_images(folder):
    """Cuts, turns and brightens two photographs that scikit-learn ships into 5,000 JPEGs of 500 x 375."""
    root = f"{folder}/jpeg"
    if os.path.exists(f"{root}/.complete"):
        return root
    from PIL import Image, ImageEnhance
    rng = random.Random(2)
    photographs = [Image.open(p).convert("RGB") for p in sorted(glob.glob(PHOTOGRAPHS))]
    for i in range(IMAGES):
        photo = photographs[i % len(photographs)]
        w = rng.randrange(320, photo.width)
        h = min(photo.height, w * 3 // 4)
        x, y = rng.randrange(photo.width - w + 1), rng.randrange(photo.height - h + 1)
        image = photo.crop((x, y, x + w, y + h)).resize(SIZE, Image.BICUBIC)
        image = ImageEnhance.Brightness(image).enhance(rng.uniform(0.7, 1.3))
        os.makedirs(f"{root}/class{i % CLASSES}", exist_ok=True)
        image.save(f"{root}/class{i % CLASSES}/{i:05}.jpg", quality=90)
    open(f"{root}/.complete", "w").close()
    return root


def make_sparse(folder, rows=5_000_000, columns=1024):
    """A 20 GB array of zeros that takes no room on the disk, and its targets."""
    for name, shape in (("sparse_x", (rows, columns)), ("sparse_y", (rows, 1))):
        path = f"{folder}/{name}.npy"
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"
        header += " " * (-(len(header) + 11) % 64) + "\n"
        with open(path, "wb") as out:
            out.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
            out.truncate(out.tell() + shape[0] * shape[1] * 4)
    return folder


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    print({"csv": make_csv, "images": make_images, "sparse": make_sparse}[sys.argv[1]](sys.argv[2]))
