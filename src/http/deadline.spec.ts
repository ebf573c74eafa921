import { setImmediate as turn } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import fastify from 'fastify';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { enforceDeadline } from './deadline.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  Logger.overrideLogger(false);
});
afterEach(() => {
  vi.useRealTimers();
  Logger.overrideLogger(['error', 'warn']);
});

it('answers four and a half seconds after the request, whatever the handler waits for', async () => {
  const app = fastify();
  app.decorateRequest('problem', undefined);
  enforceDeadline(app);
  const handled = Promise.withResolvers<void>();
  app.get('/', () => {
    handled.resolve();
    return new Promise(() => undefined);
  });
  const statuses: (number | undefined)[] = [];
  app.inject('/', (_error, response) => void statuses.push(response?.statusCode));
  await handled.promise;

  vi.advanceTimersByTime(4499);
  await turn();
  expect(statuses).toEqual([]);

  vi.advanceTimersByTime(1);
  for (let turns = 0; turns < 100 && statuses.length === 0; turns += 1) await turn();
  expect(statuses).toEqual([503]);
});

it('keeps no timer of a request that its route passed on as unknown', async () => {
  const app = fastify();
  enforceDeadline(app);
  app.get('/:id', (_request, reply) => reply.callNotFound());
  await app.ready();
  const timersBefore = vi.getTimerCount();

  expect((await app.inject('/x')).statusCode).toBe(404);

  expect(vi.getTimerCount()).toBe(timersBefore);
});
