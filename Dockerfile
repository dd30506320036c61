# orch on Debian 12:  docker build -t orch . && docker run --rm -it -v "$PWD:/work" --user "$(id -u):$(id -g)" orch orch ls
# With training plugins: docker build --build-arg STAGE=torch -t orch .
# The image has the Debian packages that the first stage makes, and neither compilers nor sources.
FROM debian:12-slim AS build
ARG STAGE=build
WORKDIR /usr/src/orch
COPY . .
RUN ./build.sh ${STAGE} && ./build.sh deb

FROM debian:12-slim
COPY --from=build /usr/src/orch/build/deb/ /tmp/deb/
RUN apt-get update && \
    apt-get install -y --no-install-recommends git ca-certificates python3 libcurl4 libhwloc15 /tmp/deb/*.deb && \
    rm -rf /tmp/deb /var/lib/apt/lists/*
# for users without a home in the container
ENV HOME=/tmp
WORKDIR /work
CMD ["orch", "help"]
