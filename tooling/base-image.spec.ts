import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const DOCKERFILE = readFileSync(resolve(import.meta.dirname, '../Dockerfile'), 'utf8');

it('is one argument for every stage of the image, so that a build can pin it by digest', () => {
  const bases = [...DOCKERFILE.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);

  expect(bases.length).toBeGreaterThan(1);
  expect(new Set(bases)).toEqual(new Set(['${NODE_IMAGE}']));
  expect(DOCKERFILE.indexOf('ARG NODE_IMAGE=')).toBeLessThan(DOCKERFILE.indexOf('FROM '));
  expect(DOCKERFILE).toMatch(/^ARG NODE_IMAGE=node:24-bookworm-slim$/m);
});
