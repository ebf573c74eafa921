import { type Account, anAccount, aPassword } from '../support/personas.js';
import { aChallenge, challengeFor, protect, unprotect } from '../support/second-factor.js';
import type { Service } from '../support/service.js';
import type { Caller } from '../support/caller.js';

interface Examples {
  send(operationId: string, request: { by: Caller; body?: unknown }): Promise<unknown>;
}

const STEP = 'logInWithSecondFactor';

/** @param adaId of the account whose email the examples have; it has no second factor afterwards */
export async function collectSecondStepAnswers(
  examples: Examples,
  service: Service,
  adaId: string,
): Promise<void> {
  const { anyone } = service;
  const other = await anAccount(service);
  const { app } = await protect(service, other);
  const { email, password } = other;
  await examples.send('login', { by: anyone, body: { email, password } });
  await examples.send(STEP, { by: anyone });
  await collectRefusedCodes(examples, other, app.wrong());
  const challenge = await aChallenge(service, other);
  const body = { challenge, code: app.wrong() };
  for (let attempt = 0; attempt <= 10; attempt += 1) await examples.send(STEP, { by: anyone, body });
  await unprotect(service, other);

  const ada = await protect(service, { id: adaId });
  // Her logins are counted.
  const asked = await challengeFor(service, adaId);
  await examples.send(STEP, { by: anyone, body: { challenge: asked, code: ada.recoveryCodes[0] } });
  await unprotect(service, { id: adaId });
}

/** Where a code is sent beside the right password. */
async function collectRefusedCodes(examples: Examples, by: Account, code: string): Promise<void> {
  const { password } = by;
  await examples.send('deleteAccount', { by, body: { password, code } });
  await examples.send('askForChange', { by, body: { email: 'ada.lovelace@example.com', password, code } });
  await examples.send('changePassword', {
    by,
    body: { currentPassword: password, newPassword: aPassword(), code },
  });
}
