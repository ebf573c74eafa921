import { afterAll, describe, expect, it } from 'vitest';
import { type Access, CALLER_KINDS, type CallerKind } from '../../src/access/route-access.js';
import type { Answer } from '../support/answer.js';
import { declaredRoutes } from '../support/declared-routes.js';
import { startService } from '../support/service.js';
import type { Document } from './documented.js';

const LOGIN = ['POST /api/auth/login', 'POST /api/auth/login/second-factor'];
const routes = await declaredRoutes();

const service = await startService();
const whole = await service.anyone.get<Document>('/openapi.json');
const parts = await Promise.all(
  CALLER_KINDS.map((callers) => service.anyone.get<Document>(`/openapi/${callers}.json`)),
);
afterAll(() => service.stop());

describe.each(CALLER_KINDS)('the OpenAPI document for %s', (callers) => {
  const answer = parts[CALLER_KINDS.indexOf(callers)]!;
  const operations = endpointsOf(answer.body);

  it('has every route that admits them, and none that admits others alone', () => {
    const admitting = (test: (access: Access) => boolean): string[] =>
      routes
        .filter(({ access }) => test(access!))
        .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);

    const own = admitting(isFor[callers]);
    const others = admitting(
      (access) => access.to !== 'everyone' && !isFor[callers](access) && !('or' in access && access.or),
    );
    expect(operations).toEqual(expect.arrayContaining(own));
    expect(operations.filter((endpoint) => others.includes(endpoint))).toEqual([]);
  });

  it('is a part of the whole document, in its order', () => {
    for (const [path, methods] of Object.entries(answer.body.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const { tags: [tag] = [], ...described } = whole.body.paths[path]![method]!;
        const tags = [tag?.replace('Admin: ', '')];
        expect(operation, `${method} ${path}`).toEqual({ ...described, tags });
      }
    }
    const order = endpointsOf(whole.body).filter((endpoint) => operations.includes(endpoint));
    expect(operations).toEqual(order);
    for (const [group, members] of Object.entries(answer.body.components))
      expect(Reflect.get(whole.body.components, group)).toMatchObject(members);
  });

  it('refers to what it has, and has nothing else', () => {
    const { paths, tags, components } = answer.body;
    const { securitySchemes, ...others } = components;
    const refs = [...answer.text.matchAll(/"#\/components\/([^"]+)"/g)].map(([, reference]) => reference!);
    const has = Object.entries(others).flatMap(([group, members]) =>
      Object.keys(members).map((name) => `${group}/${name}`),
    );
    expect(new Set(has)).toEqual(new Set(refs));
    const all = Object.values(paths).flatMap((methods) => Object.values(methods));
    expect(new Set(tags.map(({ name }) => name))).toEqual(new Set(all.flatMap((one) => one.tags ?? [])));
    const schemes = all.flatMap(({ security = [] }) => security.flatMap((need) => Object.keys(need)));
    expect(new Set(Object.keys(securitySchemes))).toEqual(new Set(schemes));
  });

  it('is sent as the whole one is', () => {
    const headers = ({ headers: sent }: Answer): Record<string, string> =>
      Object.fromEntries(
        [...sent].filter(([name]) => !['content-length', 'date', 'x-request-id'].includes(name)),
      );
    expect(answer.status).toBe(200);
    expect(headers(answer)).toEqual(headers(whole));
    expect(answer.text.length).toBeLessThan(whole.text.length);
  });
});

it('the OpenAPI documents leave out no operation, and let clients and operators log in', () => {
  const endpoints = parts.map(({ body }) => endpointsOf(body));
  expect([...new Set(endpoints.flat())].toSorted()).toEqual(endpointsOf(whole.body).toSorted());
  expect(endpoints.map((some) => LOGIN.every((step) => some.includes(step)))).toEqual([true, false, true]);
  expect(endpoints.every((some) => some.includes('POST /api/auth/logout'))).toBe(true);
});

const isFor: Record<CallerKind, (access: Access) => boolean> = {
  clients: ({ to }) => to === 'signed-in' || to === 'members',
  services: (access) => access.to === 'services' || ('boundTokens' in access && access.boundTokens === true),
  operators: ({ to }) => to === 'operators',
};

function endpointsOf({ paths }: Document): string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}
