import { expect, it } from 'vitest';
import { rateLimitKey } from './rate-limit-key.js';

it('is 22 characters of base64url without the e-mail', () => {
  const key = rateLimitKey('login', '203.0.113.7', 'alice@example.com');
  expect(key).toMatch(/^[\w-]{22}$/);
  expect(key).toBe(rateLimitKey('login', '203.0.113.7', 'alice@example.com'));
});

it('differs by name, client and e-mail, and by the boundaries between them', () => {
  const keys = [
    rateLimitKey('login', '203.0.113.7', 'a@b.co'),
    rateLimitKey('register', '203.0.113.7', 'a@b.co'),
    rateLimitKey('login', '203.0.113.8', 'a@b.co'),
    rateLimitKey('login', '203.0.113.7', 'b@b.co'),
    rateLimitKey('login', '203.0.113.7a', '@b.co'),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
