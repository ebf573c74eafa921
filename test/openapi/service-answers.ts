import { anAccount, anAccountOf, anOrgOf, join } from '../support/personas.js';
import type { Service } from '../support/service.js';
import { aServiceCaller } from '../support/service-caller.js';
import type { ExampleAnswers } from './example-answers.js';

/** Gets answered what internal services ask about a user who owns an organization. */
export async function collectServiceAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  const katherine = await anAccountOf(service, 'katherine@example.com');
  const org = await anOrgOf(katherine);
  await join(org, katherine, await anAccount(service), 'member');
  const [billing, exchanging] = await Promise.all([
    aServiceCaller(service, 'introspect', 'memberships'),
    aServiceCaller(service),
  ]);
  const about = { token: katherine.token, orgId: org.id };

  await examples.send('introspectToken', { by: billing, body: about });
  await examples.send('introspectToken', { by: billing, body: {} });
  examples.keep('introspectToken', await billing.sendForm('/api/auth/introspect', 'token=x&token=y'));
  await examples.send('listMemberships', { by: billing, query: `?orgId=${org.id}&limit=1` });
  await examples.send('listMemberships', { by: billing });
  for (const id of ['introspectToken', 'listMemberships']) {
    await examples.send(id, { by: exchanging });
    await examples.send(id, { by: service.anyone });
  }
}
