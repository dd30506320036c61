# orch on Debian 12:  docker build -t orch . && docker run --rm -it -v "$PWD:/work" -w /work orch orch ls
# With training plugins: docker build --build-arg STAGE=torch -t orch .
FROM debian:12-slim
ARG STAGE=build
WORKDIR /usr/src/orch
COPY . .
RUN ./build.sh ${STAGE} && ./build.sh install --prefix /usr/local && rm -rf /var/lib/apt/lists/*
WORKDIR /work
CMD ["orch", "help"]
