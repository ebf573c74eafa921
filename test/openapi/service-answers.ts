import { type Account, anAccount, anAccountOf, anOrgOf, anUnknownId, join } from '../support/personas.js';
import type { Service } from '../support/service.js';
import { aServiceCaller, type ServiceCaller } from '../support/service-caller.js';
import type { Answered, ExampleAnswers } from './example-answers.js';

/** requests of one service that the feed lets wait */
const MAX_WAITING = 20;

/** Gets answered what internal services ask about a user who owns an organization. */
export async function collectServiceAnswers(examples: ExampleAnswers, service: Service): Promise<void> {
  const katherine = await anAccountOf(service, 'katherine@example.com');
  const org = await anOrgOf(katherine);
  await join(org, katherine, await anAccount(service), 'member');
  const [billing, exchanging] = await Promise.all([
    aServiceCaller(service, 'introspect', 'memberships', 'events'),
    aServiceCaller(service),
  ]);
  const about = { token: katherine.token, orgId: org.id };

  await examples.send('introspectToken', { by: billing, body: about });
  await examples.send('introspectToken', { by: billing, body: {} });
  examples.keep('introspectToken', await billing.sendForm('/api/auth/introspect', 'token=x&token=y'));
  await examples.send('listMemberships', { by: billing, query: `?orgId=${org.id}&limit=1` });
  await examples.send('listMemberships', { by: billing });
  await giveFeedExamples(examples, billing, katherine);
  for (const id of ['introspectToken', 'listMemberships', 'followEvents']) {
    await examples.send(id, { by: exchanging });
    await examples.send(id, { by: service.anyone });
  }
}

async function giveFeedExamples(
  examples: ExampleAnswers,
  billing: ServiceCaller,
  user: Account,
): Promise<void> {
  const { body } = await billing.get<{ next: string }>('/api/events');
  const after = `?after=${body.next}`;
  const waiting = Array.from({ length: MAX_WAITING + 1 }, () =>
    billing.get<Answered>(`/api/events${after}&wait=15`),
  );
  const refused = await Promise.race(waiting);
  examples.keep('followEvents', refused);
  await user.post('/api/auth/login', { email: user.email, password: user.password });
  await Promise.all(waiting);

  await examples.send('followEvents', { by: billing, query: after });
  await examples.send('followEvents', { by: billing, query: '?after=now' });
  await examples.send('followEvents', { by: billing, query: `?after=${anUnknownId()}` });
}
