FROM debian:bookworm-slim
RUN groupadd --gid 1000 --system redis && useradd --uid 999 --gid redis --system redis \
  && apt-get update && apt-get install --yes --no-install-recommends redis-server \
  && install --directory --owner redis /data
# The official image is built without protected mode, which would refuse clients from other containers.
RUN printf '#!/bin/sh\nexec /usr/bin/redis-server "$@" --protected-mode no\n' > /usr/local/bin/redis-server \
  && chmod +x /usr/local/bin/redis-server
VOLUME /data
WORKDIR /data
EXPOSE 6379
CMD ["redis-server"]
