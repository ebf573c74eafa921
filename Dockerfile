# Images by tag change under them; docs/deploy-compose.md says how to pin them by digest.
ARG NODE_IMAGE=node:24-bookworm-slim
ARG DEBIAN_IMAGE=debian:bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts ./scripts
RUN npm ci --workspaces=false
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY tooling ./tooling
COPY src ./src
RUN npm run build && find dist -name '*.map' -delete
COPY client ./client
RUN node client/scripts/build-commonjs.ts /image/guard && chmod +x /image/guard/cjs/guard/main.js
# What the bundle leaves out, with the native code of this platform only.
RUN mkdir -p /image/node_modules && cd node_modules \
  && cp -r --parents @node-rs/argon2* @phc/format argon2 bcrypt node-gyp-build /image/node_modules/ \
  && cd /image/node_modules && find . -path '*/prebuilds/*.node' ! -path "*/linux-$(node -p process.arch)/*glibc.node" -delete \
  && find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.[cm]ts' \) -delete

FROM ${DEBIAN_IMAGE} AS service
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node
COPY --from=build /usr/local/bin/node /usr/local/bin/
WORKDIR /app
COPY package.json ./
COPY --from=build /image/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /image/guard/cjs ./guard
COPY bin ./bin
RUN install -d -o node -g node -m 0700 data && ln -s /app/bin/accounts.js /usr/local/bin/accounts \
  && ln -s /app/guard/guard/main.js /usr/local/bin/accounts-guard
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=16 NODE_COMPILE_CACHE=/app/cache

# Node keeps compiled code in a folder with the id of its user. It reads all that a start and a command may load.
FROM service AS compiled
RUN install -d -o node cache
USER node
RUN set -e; cd /tmp; \
  export JWT_KEYS_FILE=jwks.json DATABASE_URL=sqlite:accounts.sqlite METRICS_PORT=0 \
    REDIS_URL=redis://127.0.0.1:9 OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9 \
    SMTP_URL=smtp://127.0.0.1:9 MAIL_FROM=accounts@example.com; \
  accounts keys create; accounts migrate; accounts doctor; accounts users list; accounts-guard --version; \
  ! DATABASE_URL=mysql://127.0.0.1:9/accounts accounts users list; \
  node /app/dist/main.js & \
  until node -e "fetch('http://127.0.0.1:3000/health/live').catch(() => process.exit(1))"; do kill -0 $!; done; \
  kill $!; wait $!; \
  chmod -R a+rX /app/cache

FROM service
# docker build --build-arg VERSION=0.3.0 --build-arg REVISION=$(git rev-parse HEAD)
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Accounts" \
  org.opencontainers.image.description="Self-hosted users, organizations and roles over REST" \
  org.opencontainers.image.version=$VERSION \
  org.opencontainers.image.revision=$REVISION
COPY --from=compiled --chown=root:root /app/cache ./cache
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
