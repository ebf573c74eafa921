import { expect } from 'vitest';
import type { Answer } from '../../support/answer.js';
import { examine } from '../../support/accounts-command.js';
import type { Installation } from '../../support/installation.js';

export function done<T>(answer: Answer<T>, status = 200): T {
  expect(answer.status, answer.text).toBe(status);
  return answer.body;
}

export async function expectHealthy(installation: Installation): Promise<void> {
  const { code, lines, errors } = await examine(installation);
  expect(lines, errors).not.toContainEqual(expect.stringMatching(/^(?:fault|RED)/));
  expect(code).toBe(0);
}
