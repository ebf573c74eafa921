import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const DOCKERFILE = readFileSync(resolve(import.meta.dirname, '../Dockerfile'), 'utf8');

it('is an argument for every stage of the image, so that a build can pin it by digest', () => {
  const stages = [...DOCKERFILE.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)];
  const names = new Set(stages.map(([, , name]) => name));
  const bases = stages.map(([, base]) => base!).filter((base) => !names.has(base));

  expect(bases).toEqual(['${NODE_IMAGE}', '${DEBIAN_IMAGE}']);
  const head = DOCKERFILE.slice(0, DOCKERFILE.indexOf('FROM '));
  expect(head).toMatch(/^ARG NODE_IMAGE=node:24-bookworm-slim$/m);
  expect(head).toMatch(/^ARG DEBIAN_IMAGE=debian:bookworm-slim$/m);
});
