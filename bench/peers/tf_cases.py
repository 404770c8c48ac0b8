# SPDX-License-Identifier: Apache-2.0
"""TensorFlow: Keras fit with a jit-compiled step, and a whole epoch as one tf.function(jit_compile=True)."""
import os

import serve

args = serve.arguments()
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["KERAS_BACKEND"] = "tensorflow"

import tensorflow as tf  # noqa: E402

tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(args.threads)

import keras  # noqa: E402
import numpy as np  # noqa: E402

case = serve.CASES[args.case]
inputs, target = serve.load(case, args.data)


class ParTimes(keras.layers.Layer):
    def build(self, shape):
        self.par = self.add_weight(shape=(1,), initializer="zeros", name="par")

    def call(self, f):
        return self.par * f


def model():
    ins = [keras.Input(i.shape[1:]) for i in inputs]
    if case.key == "a":
        return keras.Model(ins, keras.layers.Dense(1, use_bias=False)(ins[0]) + ParTimes()(ins[1]))
    h = ins[0]
    for k, width in enumerate(case.layers[1:]):
        h = keras.layers.Dense(width, activation=case.activation if k + 2 < len(case.layers) else None)(h)
    return keras.Model(ins, h)


def fit(steps_per_execution):
    def build():
        net = model()
        loss = "mse" if case.loss == "mse" else keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        net.compile(optimizer=keras.optimizers.Adam(case.lr), loss=loss, jit_compile=True,
                    steps_per_execution=steps_per_execution)

        def epoch():
            history = net.fit(list(inputs), target, batch_size=case.batch, shuffle=case.shuffle, verbose=0)
            return history.history["loss"][-1]

        return epoch

    return build


def initial():
    rng = np.random.default_rng(1)
    if case.key == "a":
        return [tf.constant(rng.uniform(-0.16, 0.16, (40, 1)), tf.float32), tf.zeros(1)]
    state = []
    for a, b in zip(case.layers, case.layers[1:]):
        state += [tf.constant(rng.uniform(-1, 1, (a, b)) / a**0.5, tf.float32), tf.zeros(b)]
    return state


def loss_of(params, batch):
    *x, y = batch
    if case.key == "a":
        out = x[0] @ params[0] + params[1] * x[1]
    else:
        out = x[0]
        for k in range(0, len(params), 2):
            out = out @ params[k] + params[k + 1]
            if k + 2 < len(params):
                out = tf.tanh(out) if case.activation == "tanh" else tf.nn.relu(out)
    if case.loss == "mse":
        return tf.reduce_mean((out - y) ** 2)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, out))


def step(params, m, v, count, batch):
    with tf.GradientTape() as tape:
        tape.watch(params)
        loss = loss_of(params, batch)
    gradients = tape.gradient(loss, params)
    count = count + 1
    rate, scale = case.lr / (1 - 0.9**count), tf.math.rsqrt(1 - 0.999**count)
    m = [m + 0.1 * (g - m) for m, g in zip(m, gradients)]
    v = [0.999 * v + 0.001 * g * g for v, g in zip(v, gradients)]
    params = [p - rate * m / (tf.sqrt(v) * scale + 1e-8) for p, m, v in zip(params, m, v)]
    return params, m, v, count, loss


def fresh_state():
    params = initial()
    return params, [tf.zeros_like(p) for p in params], [tf.zeros_like(p) for p in params], tf.zeros(())


def tensors():
    return [tf.constant(i.reshape(case.steps, case.batch, *i.shape[1:])) for i in (*inputs, target)]


def whole_epoch():
    data = tensors()

    @tf.function(jit_compile=True)
    def run(params, m, v, count, data):
        def body(k, params, m, v, count, loss):
            return (k + 1, *step(params, m, v, count, [tf.gather(d, k) for d in data]))

        return tf.while_loop(lambda k, *rest: k < case.steps, body, (0, params, m, v, count, 0.0),
                             maximum_iterations=case.steps)[1:]

    state = fresh_state()

    def epoch():
        nonlocal state
        *state, loss = run(*state, data)
        return loss.numpy()

    return epoch


def jit_step():
    data = tensors()
    batches = [[d[k] for d in data] for k in range(case.steps)]
    run = tf.function(step, jit_compile=True)
    state = fresh_state()

    def epoch():
        nonlocal state
        for batch in batches:
            *state, loss = run(*state, batch)
        return loss.numpy()

    return epoch


serve.main(
    args,
    {
        "Keras fit": fit(1),
        "Keras fit 64 steps an execution": fit(64),
        "tf.function step": jit_step,
        "tf.function epoch": whole_epoch,
    },
    f"TensorFlow {tf.__version__}, Keras {keras.__version__}",
)
