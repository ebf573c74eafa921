import { appCode, forgetSteps } from '../support/enrolment.js';
import { aVerifiedAccount } from '../support/inviting.js';
import { anAccount, byCode } from '../support/personas.js';
import type { Service } from '../support/service.js';
import type { ExampleAnswers } from './example-answers.js';

const CHANGES = ['renewRecoveryCodes', 'removeSecondFactor'];
const WRITES = ['beginSecondFactor', 'confirmSecondFactor', ...CHANGES];

/** Spreads the requests over several accounts, since each counts as a login of its own. */
export async function collectSecondFactorAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  const by = await aVerifiedAccount(service, 'protected');
  const { password } = by;
  for (const id of WRITES) await examples.send(id, { by: await byCode(service, by) });
  const { secret } = await examples.send('beginSecondFactor', { by, body: { password } });
  const code = appCode(secret);
  await examples.send('confirmSecondFactor', { by, body: { code } });
  await examples.send('getSecondFactor', { by });
  await examples.send('beginSecondFactor', { by, body: { password } });
  await examples.send('confirmSecondFactor', { by, body: { code } });
  await forgetSteps(service, by);
  await examples.send('renewRecoveryCodes', { by, body: { password, code } });
  await forgetSteps(service, by);
  await examples.send('removeSecondFactor', { by, body: { password, code } });

  const unverified = await anAccount(service, 'unverified');
  await examples.send('confirmSecondFactor', { by: unverified, body: { code } });

  const other = await aVerifiedAccount(service, 'unprotected');
  for (const id of ['beginSecondFactor', ...CHANGES])
    await examples.send(id, { by: other, body: { password: 'not the password', code } });
  await examples.send('confirmSecondFactor', { by: other, body: { code } });
  for (const id of CHANGES) await examples.send(id, { by: other, body: { password: other.password, code } });

  const busy = await anAccount(service, 'busy');
  for (const id of WRITES) await examples.send(id, { by: busy, body: {} });
  const wrong = { password: 'not the password', code: '000000' };
  for (let count = 0; count < 4; count += 1)
    for (const id of WRITES) await examples.send(id, { by: busy, body: wrong });
}
