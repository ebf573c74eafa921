import { type Type } from '@nestjs/common';
import { useContainer } from 'class-validator';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseEnv } from '../config/env.js';
import { validationPipe } from '../http/fields.js';
import { AcceptablePassword } from './passwords/password.decorators.js';
import { LoginRequest, RegisterRequest } from './auth.requests.js';

const NAMES = { email: ' Ada@Example.COM', password: 'A\u030angstro\u0308m lantern' };

function validated<T>(metatype: Type<T>, body: object): Promise<T> {
  return validationPipe().transform(body, { type: 'body', metatype }) as Promise<T>;
}

beforeAll(() => {
  const acceptablePassword = new AcceptablePassword(parseEnv({}));
  useContainer(
    { get: (type) => (type === AcceptablePassword ? acceptablePassword : undefined) as never },
    { fallback: true },
  );
});

afterEach(() => vi.restoreAllMocks());

describe.each<[string, Type<{ email: string; password: string }>]>([
  ['LoginRequest', LoginRequest],
  ['RegisterRequest', RegisterRequest],
])('%s', (_name, request) => {
  it('holds the canonical e-mail and the normalized password', async () => {
    expect(await validated(request, NAMES)).toEqual({
      email: 'ada@example.com',
      password: '\u00c5ngstr\u00f6m lantern',
    });
  });

  it('normalizes the password once, but not one that is too long', async () => {
    const normalize = vi.spyOn(String.prototype, 'normalize');
    await validated(request, NAMES);
    expect(normalize.mock.contexts.map(String)).toEqual([NAMES.password]);

    await validated(request, { ...NAMES, password: 'e\u0301'.repeat(257) }).catch(() => undefined);
    expect(normalize).toHaveBeenCalledOnce();
  });
});
