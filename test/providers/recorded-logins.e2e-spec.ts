import { afterAll, expect, it } from 'vitest';
import { addProvider, aDomain, emailAt, finishAt, ISSUER, startAt } from '../support/at-providers.js';
import { RecordedProvider } from '../support/recorded-provider.js';
import { startService } from '../support/service.js';
import { decodeToken } from '../support/signing-keys.js';

type Name = Parameters<typeof RecordedProvider.play>[0];
type Settings = NonNullable<Parameters<typeof addProvider>[2]>;

const service = await startService({ env: { JWT_ISSUER: ISSUER } });
const started: RecordedProvider[] = [];
afterAll(async () => {
  for (const provider of started) provider.stop();
  await service.stop();
});

interface End {
  /** of the callback */
  error?: string;
  status?: number;
  code?: string;
  amr?: unknown;
}

/** A first login of a user whose email has a domain of the provider. */
async function logInAt(
  name: Name,
  settings: Settings = {},
  change: (provider: RecordedProvider) => unknown = () => undefined,
): Promise<End> {
  const provider = await RecordedProvider.play(name);
  started.push(provider);
  const domain = aDomain();
  const email = emailAt(domain);
  for (const claims of [provider.recording.idToken, provider.recording.userInfo])
    if ('email' in claims) claims['email'] = email;
  change(provider);
  const added = await addProvider(service, provider, { domains: [domain], createUsers: true, ...settings });

  const { authorizationUrl, codeVerifier } = await startAt(service, added.name);
  const callback = provider.authorize(authorizationUrl);
  const response = await fetch(service.url + callback.pathname + callback.search, { redirect: 'manual' });
  const parameters = new URL(response.headers.get('location')!).searchParams;
  const code = parameters.get('code');
  if (code === null) return { error: parameters.get('error')! };
  const { status, body } = await finishAt(service, { code, codeVerifier });
  const { token, ...refusal } = body as { token?: string; code?: string };
  if (token === undefined) return { status, code: refusal.code! };
  return { status, amr: decodeToken(token).claims['amr'] };
}

const LOGGED_IN = { status: 200, amr: ['fed'] };
const EMAIL_REFUSED = { status: 403, code: 'provider_email_refused' };
const HD = { require: { name: 'hd', value: 'example.com' } };
const verified = ({ recording }: RecordedProvider): unknown =>
  Object.assign(recording.idToken, { email_verified: true });
const personal = ({ recording }: RecordedProvider): unknown => delete recording.idToken['hd'];

it.each<[Name, string, Settings, ((provider: RecordedProvider) => unknown) | undefined, End]>([
  ['auth0', 'as it is', {}, undefined, LOGGED_IN],
  ['cognito', 'as it is', {}, undefined, LOGGED_IN],
  ['entra-id', 'without trust in its emails', {}, undefined, EMAIL_REFUSED],
  ['entra-id', 'with trust and oid', { trustEmails: true, subjectClaim: 'oid' }, undefined, LOGGED_IN],
  ['google', 'with an account of the company', HD, undefined, LOGGED_IN],
  ['google', 'with a personal account', HD, personal, { error: 'provider_denied' }],
  ['keycloak', 'with an unverified email', {}, undefined, EMAIL_REFUSED],
  ['keycloak', 'with a verified email', {}, verified, LOGGED_IN],
  ['okta', 'with its second factor, which is not of Accounts', {}, undefined, LOGGED_IN],
  ['okta-custom-server', 'as it is', {}, undefined, LOGGED_IN],
])('%s, %s', async (name, _, settings, change, end) => {
  expect(await logInAt(name, settings, change)).toEqual(end);
});
