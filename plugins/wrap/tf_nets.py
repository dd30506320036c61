# SPDX-License-Identifier: MIT
"""The networks of the adapters for TensorFlow, with the layers of orch's networks of the same name, and the
training step under a tf.distribute strategy."""
import tensorflow as tf

layers = tf.keras.layers


def block(x, inputs, outputs, stride):
    y = layers.Conv2D(outputs, 3, stride, "same", use_bias=False)(x)
    y = layers.ReLU()(layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(y))
    y = layers.Conv2D(outputs, 3, 1, "same", use_bias=False)(y)
    y = layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(y)
    if stride > 1:
        x = layers.AveragePooling2D(1, stride)(x)
        zeros = layers.Lambda(lambda t: tf.zeros_like(t)[..., : (outputs - inputs) // 2])(x)
        x = layers.Concatenate()([zeros, x, zeros])
    return layers.ReLU()(layers.Add()([x, y]))


def make(settings):
    """The network that settings.net names: resnet-cifar:N or mlp:N."""
    kind, _, number = settings.net.partition(":")
    images = x = tf.keras.Input((settings.height, settings.width, settings.channels))
    if kind == "mlp":
        x = layers.Dense(int(number), "relu")(layers.Flatten()(x))
        return tf.keras.Model(images, layers.Dense(settings.classes)(x))
    x = layers.Conv2D(16, 3, 1, "same", use_bias=False)(x)
    x = layers.ReLU()(layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x))
    inputs = 16
    for outputs in (16, 32, 64):
        for i in range((int(number) - 2) // 6):
            x = block(x, inputs, outputs, 2 if i == 0 and outputs > 16 else 1)
            inputs = outputs
    x = layers.GlobalAveragePooling2D()(x)
    return tf.keras.Model(images, layers.Dense(settings.classes)(x))


def stepper(settings, strategy):
    """A function that makes one training step and waits for it, and the bytes of the parameters."""
    with strategy.scope():
        net = make(settings)
        optimizer = tf.keras.optimizers.SGD(settings.lr, momentum=settings.momentum or None)
    shape = (settings.worker_batch, settings.height, settings.width, settings.channels)

    def values(context):
        images = tf.random.stateless_normal(shape, (1, context.replica_id_in_sync_group))
        labels = tf.random.stateless_uniform(shape[:1], (2, 1), 0, settings.classes, tf.int32)
        return images, labels

    batch = strategy.experimental_distribute_values_from_function(values)

    def learn(data):
        images, labels = data
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, net(images, training=True))
            loss = tf.reduce_sum(losses) / settings.effective_batch
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def step():
        return strategy.reduce("SUM", strategy.run(learn, (batch,)), axis=None)

    return lambda: float(step()), 4 * sum(int(tf.size(v)) for v in net.trainable_variables)
