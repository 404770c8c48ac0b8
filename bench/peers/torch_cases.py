# SPDX-License-Identifier: Apache-2.0
"""PyTorch: with its DataLoader as most people write it, over tensor slices with a fused Adam, and torch.compile."""
import serve

args = serve.arguments()

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

torch.set_num_threads(args.threads)
case = serve.CASES[args.case]
inputs, target = serve.load(case, args.data)
inputs, target = [torch.from_numpy(i) for i in inputs], torch.from_numpy(target)
loss_function = nn.functional.cross_entropy if case.loss == "cross_entropy" else nn.functional.mse_loss


class Structured(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(40, 1, bias=False)
        self.par = nn.Parameter(torch.zeros(1))

    def forward(self, x, f):
        return self.lin(x) + self.par * f


def network():
    if case.key == "a":
        return Structured()
    layers = []
    for a, b in zip(case.layers, case.layers[1:]):
        layers += [nn.Linear(a, b), nn.Tanh() if case.activation == "tanh" else nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def loader():
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=case.lr)
    batches = DataLoader(TensorDataset(*inputs, target), batch_size=case.batch, shuffle=case.shuffle)

    def epoch():
        total = 0.0
        for *x, y in batches:
            optimizer.zero_grad()
            loss = loss_function(model(*x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total / case.steps

    return epoch


def over_slices(step):
    """Contiguous slices, cut beforehand: the cheapest batches there are."""
    batches = list(zip(*[i.split(case.batch) for i in inputs], target.split(case.batch)))

    def epoch():
        for batch in batches:
            loss = step(*batch)
        return loss.detach()

    return epoch


def slices():
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=case.lr, fused=True)

    def step(*batch):
        loss = loss_function(model(*batch[:-1]), batch[-1])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss

    return over_slices(step)


def compiled(mode=None, wrapper=False):
    """Forward, backward and Adam as one compiled graph that updates its state in place."""

    def build():
        import torch._inductor.config

        torch._dynamo.reset()
        torch._inductor.config.cpp_wrapper = wrapper
        model = network()
        names = [name for name, _ in model.named_parameters()]
        params = [p.detach().clone() for p in model.parameters()]
        m, v = [torch.zeros_like(p) for p in params], [torch.zeros_like(p) for p in params]
        count = torch.zeros(())

        def loss_of(values, *batch):
            out = torch.func.functional_call(model, dict(zip(names, values)), batch[:-1])
            return loss_function(out, batch[-1])

        def step(*batch):
            gradients, loss = torch.func.grad_and_value(loss_of)(params, *batch)
            count.add_(1)
            rate = case.lr / (1 - 0.9**count)
            scale = (1 - 0.999**count).rsqrt()
            for p, g, first, second in zip(params, gradients, m, v):
                first.lerp_(g, 0.1)
                second.mul_(0.999).addcmul_(g, g, value=0.001)
                p.sub_(rate * first / (second.sqrt() * scale + 1e-8))
            return loss

        whole = torch.compile(step, mode=mode, fullgraph=True, dynamic=False)
        with torch.no_grad():
            epoch = over_slices(whole)

        def quiet():
            with torch.no_grad():
                return epoch()

        return quiet

    return build


serve.main(
    args,
    {
        "DataLoader": loader,
        "slices + fused Adam": slices,
        "torch.compile": compiled(),
        "torch.compile + C++ wrapper": compiled(wrapper=True),
        "torch.compile max-autotune": compiled("max-autotune-no-cudagraphs"),
    },
    f"PyTorch {torch.__version__}",
)
