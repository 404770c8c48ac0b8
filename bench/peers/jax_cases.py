# SPDX-License-Identifier: Apache-2.0
"""JAX: the whole epoch in one lax.scan under jit, with donated parameters and optimizer state."""
import os

import serve

args = serve.arguments()
if args.threads == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

case = serve.CASES[args.case]
inputs, target = serve.load(case, args.data)
batches = [jnp.asarray(i.reshape(case.steps, case.batch, *i.shape[1:])) for i in (*inputs, target)]


def initial():
    rng = np.random.default_rng(1)
    if case.key == "a":
        return {"w": jnp.asarray(rng.uniform(-0.16, 0.16, (40, 1)), jnp.float32), "par": jnp.zeros(1)}
    return [
        (jnp.asarray(rng.uniform(-1, 1, (a, b)) / a**0.5, jnp.float32), jnp.zeros(b))
        for a, b in zip(case.layers, case.layers[1:])
    ]


def forward(params, *x):
    if case.key == "a":
        return x[0] @ params["w"] + params["par"] * x[1]
    h = x[0]
    for k, (w, b) in enumerate(params):
        h = h @ w + b
        if k + 1 < len(params):
            h = jnp.tanh(h) if case.activation == "tanh" else jax.nn.relu(h)
    return h


def loss_of(params, *batch):
    out, y = forward(params, *batch[:-1]), batch[-1]
    if case.loss == "mse":
        return jnp.mean((out - y) ** 2)
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(out) * jax.nn.one_hot(y, case.layers[-1]), axis=1))


def step(state, batch):
    params, m, v, count = state
    loss, gradient = jax.value_and_grad(loss_of)(params, *batch)
    count = count + 1
    rate, scale = case.lr / (1 - 0.9**count), jax.lax.rsqrt(1 - 0.999**count)
    m = jax.tree.map(lambda m, g: m + 0.1 * (g - m), m, gradient)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, gradient)
    params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) * scale + 1e-8), params, m, v)
    return (params, m, v, count), loss


def scan(unroll):
    def build():
        run = jax.jit(lambda state, data: jax.lax.scan(step, state, data, unroll=unroll), donate_argnums=0)
        params = initial()
        zeros = jax.tree.map(jnp.zeros_like, params)
        state = (params, zeros, jax.tree.map(jnp.copy, zeros), jnp.zeros(()))

        def epoch():
            nonlocal state
            state, losses = run(state, batches)
            return jax.block_until_ready(losses)[-1]

        return epoch

    return build


serve.main(args, {"lax.scan": scan(1), "lax.scan unroll 4": scan(4)}, f"JAX {jax.__version__}")
