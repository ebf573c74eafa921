import type { HttpResponse } from './http-response.ts';

type Shape = { [field: string]: Shape | ((value: unknown) => boolean) };

/** An answer that is not what the interface says, with enough of it to see why. */
export class WrongAnswer extends Error {}

export const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
export const isToken = (value: unknown): boolean =>
  typeof value === 'string' && value.split('.').length === 3;
export const is =
  (expected: string | boolean) =>
  (value: unknown): boolean =>
    value === expected;

/** @throws WrongAnswer unless the status and every field, no more and no fewer, are as expected */
export function expectAnswer(response: HttpResponse, status: number, shape: Shape): Record<string, unknown> {
  const body = parse(response);
  const wrong = response.status === status ? mismatch(body, shape, 'body') : `status ${response.status}`;
  if (wrong !== undefined) {
    throw new WrongAnswer(`expected ${status}, got ${wrong}: ${response.body.toString().slice(0, 300)}`);
  }
  return body as Record<string, unknown>;
}

function parse(response: HttpResponse): unknown {
  try {
    return JSON.parse(response.body.toString()) as unknown;
  } catch {
    return undefined;
  }
}

function mismatch(value: unknown, shape: Shape, path: string): string | undefined {
  if (typeof value !== 'object' || value === null) return `no object at ${path}`;
  const given = value as Record<string, unknown>;
  if (Object.keys(given).length !== Object.keys(shape).length) return `other fields at ${path}`;

  for (const [field, expected] of Object.entries(shape)) {
    if (typeof expected !== 'function') {
      const inner = mismatch(given[field], expected, `${path}.${field}`);
      if (inner !== undefined) return inner;
    } else if (!expected(given[field])) {
      return `an unexpected ${path}.${field}`;
    }
  }
  return undefined;
}

const MEMBER: Shape = { userId: isText, email: isText, role: isText };

export function isMemberList(length: number): (value: unknown) => boolean {
  return (value) =>
    Array.isArray(value) &&
    value.length === length &&
    value.every((member) => mismatch(member, MEMBER, 'member') === undefined);
}

export function isOrgList(length: number): (value: unknown) => boolean {
  const shape: Shape = { id: isText, name: isText };
  return (value) =>
    Array.isArray(value) &&
    value.length === length &&
    value.every((org) => mismatch(org, shape, 'org') === undefined);
}
