# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the larger nets: eager and compiled, both with its fused Adam and data cut into batches beforehand."""
import resource

import serve

args = serve.arguments()

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

torch.set_num_threads(args.threads)
net = serve.NETWORKS[args.case]
x, y = (torch.from_numpy(np.load(f"{args.data}/{net.name}_{name}.npy")) for name in "xy")
batches = list(zip(x.split(net.batch), y.split(net.batch)))


def conv_norm(a, b, kernel, stride=1, groups=1, padding=None):
    padding = kernel // 2 if padding is None else padding
    return nn.Sequential(nn.Conv2d(a, b, kernel, stride, padding, groups=groups, bias=False), nn.BatchNorm2d(b))


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        h = F.avg_pool2d(torch.tanh(self.conv1(x)), 2)
        h = F.avg_pool2d(torch.tanh(self.conv2(h)), 2).flatten(1)
        return self.fc3(torch.tanh(self.fc2(torch.tanh(self.fc1(h)))))


class Residual(nn.Module):
    def __init__(self, a, width, stride, bottleneck):
        super().__init__()
        b = 4 * width if bottleneck else width
        if bottleneck:
            self.body = nn.Sequential(conv_norm(a, width, 1), nn.ReLU(), conv_norm(width, width, 3, stride), nn.ReLU(),
                                      conv_norm(width, b, 1))
        else:
            self.body = nn.Sequential(conv_norm(a, width, 3, stride), nn.ReLU(), conv_norm(width, b, 3))
        self.shortcut = conv_norm(a, b, 1, stride) if stride != 1 or a != b else nn.Identity()

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


class ResNet(nn.Module):
    def __init__(self, blocks, bottleneck, cifar, classes):
        super().__init__()
        self.stem = conv_norm(3, 64, 3) if cifar else conv_norm(3, 64, 7, 2)
        self.pool = nn.Identity() if cifar else nn.MaxPool2d(3, 2, 1)
        layers, a = [], 64
        for s, n in enumerate(blocks):
            for b in range(n):
                layers.append(Residual(a, 64 << s, 2 if b == 0 and s > 0 else 1, bottleneck))
                a = (64 << s) * (4 if bottleneck else 1)
        self.stages, self.fc = nn.Sequential(*layers), nn.Linear(a, classes)

    def forward(self, x):
        return self.fc(self.stages(self.pool(F.relu(self.stem(x)))).mean((2, 3)))


class Inverted(nn.Module):
    def __init__(self, a, b, stride, expansion):
        super().__init__()
        h = a * expansion
        widen = [conv_norm(a, h, 1), nn.ReLU6()] if expansion != 1 else []
        self.body = nn.Sequential(*widen, conv_norm(h, h, 3, stride, h), nn.ReLU6(), conv_norm(h, b, 1))
        self.adds = stride == 1 and a == b

    def forward(self, x):
        return x + self.body(x) if self.adds else self.body(x)


def mobilenet_v2():
    layers, a = [conv_norm(3, 32, 3), nn.ReLU6()], 32
    rows = ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 1), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for t, c, n, s in rows:
        for i in range(n):
            layers.append(Inverted(a, c, s if i == 0 else 1, t))
            a = c
    return nn.Sequential(*layers, conv_norm(a, 1280, 1), nn.ReLU6(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Dropout(0.2), nn.Linear(1280, 10))


class Attention(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, width, heads, causal, approximate):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class Gpt(nn.Module):
    def __init__(self, vocabulary, context, layers, heads, width):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads, True, "none") for _ in range(layers)))
        self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, tokens):
        h = self.wte(tokens) + self.wpe.weight
        return self.head(self.ln(self.blocks(h))).transpose(1, 2)


class Vit(nn.Module):
    def __init__(self, patch, size, layers, heads, width, classes):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.zeros(1, (size // patch) ** 2 + 1, width))
        self.blocks = nn.Sequential(*(Block(width, heads, False, "none") for _ in range(layers)))
        self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, x):
        h = self.patches(x).flatten(2).transpose(1, 2)
        h = torch.cat([self.token.expand(len(h), -1, -1), h], 1) + self.places
        return self.head(self.ln(self.blocks(h))[:, 0])


class Recurrent(nn.Module):
    def __init__(self, kind, width, layers):
        super().__init__()
        self.core, self.top = kind(16, width, layers, batch_first=True), nn.Linear(width, 1)

    def forward(self, x):
        return self.top(self.core(x)[0][:, -1])


MODELS = {
    "lenet5": LeNet5,
    "resnet18": lambda: ResNet((2, 2, 2, 2), False, True, 10),
    "resnet50": lambda: ResNet((3, 4, 6, 3), True, False, 1000),
    "mobilenet_v2": mobilenet_v2,
    "gpt": lambda: Gpt(256, 256, 6, 6, 384),
    "lstm": lambda: Recurrent(nn.LSTM, 128, 2),
    "gru": lambda: Recurrent(nn.GRU, 64, 1),
    "vit": lambda: Vit(4, 32, 12, 3, 192, 10),
}
loss_function = F.cross_entropy if net.classes else F.mse_loss


def trained(compiled):
    def build():
        torch.manual_seed(1)
        model = MODELS[net.name]()
        print(sum(p.numel() for p in model.parameters()), "parameters")
        optimizer = torch.optim.Adam(model.parameters(), fused=True)
        forward = torch.compile(lambda x, y: loss_function(model(x), y), dynamic=False) if compiled else (
            lambda x, y: loss_function(model(x), y))

        def epoch():
            for batch in batches:
                loss = forward(*batch)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            return loss.detach()

        return epoch

    return build


serve.main(args, {"eager": trained(False), "torch.compile": trained(True)}, f"PyTorch {torch.__version__}",
           lambda: {"peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024})
