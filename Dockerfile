# An image by tag changes under it; docs/deploy.md says how to pin it by digest.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts ./scripts
RUN npm ci --workspaces=false
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY tooling ./tooling
COPY src ./src
RUN npm run build

# The image has a Node of its own: leaves out the one that the lock file pins, and source maps and types, half of
# the size.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts ./scripts
RUN npm ci --workspaces=false --omit=dev && rm -rf node_modules/node-linux-* node_modules/.bin scripts/link-node.mjs \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.[cm]ts' \) -delete

FROM ${NODE_IMAGE}
# docker build --build-arg VERSION=0.3.0 --build-arg REVISION=$(git rev-parse HEAD)
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Accounts" \
  org.opencontainers.image.description="Self-hosted users, organizations and roles over REST" \
  org.opencontainers.image.version=$VERSION \
  org.opencontainers.image.revision=$REVISION
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=16
WORKDIR /app
COPY --from=dependencies /app ./
COPY --from=build /app/dist ./dist
COPY bin ./bin
RUN install -d -o node -g node -m 0700 data && ln -s /app/bin/accounts.js /usr/local/bin/accounts
USER node
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "dist/main.js"]
