import { afterAll, expect, it } from 'vitest';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';
import {
  addProvider,
  aDomain,
  type Confirmed,
  emailAt,
  finishAt,
  ISSUER,
  LOOPBACK,
  startAt,
} from '../support/at-providers.js';
import {
  invalidProviderLogin,
  invalidSecondFactorCode,
  linkRequired,
  wrongPassword,
} from '../support/expected.js';
import { startMailing } from '../support/mailing.js';
import { anOtlpReceiver } from '../support/otlp-receiver.js';
import { anAccountOf } from '../support/personas.js';
import { RecordedProvider } from '../support/recorded-provider.js';
import { storedTexts } from '../support/secrets.js';
import { protect } from '../support/second-factor.js';

const receiver = await anOtlpReceiver();
const { service, mailServer } = await startMailing({
  JWT_ISSUER: ISSUER,
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
  CROSS_DEVICE_LOGIN: 'anywhere',
});
// Its email comes from UserInfo, which the access token opens.
const provider = await RecordedProvider.play('okta');
afterAll(async () => {
  provider.stop();
  await receiver.close();
});
const { secrets } = service.installation;
const sign = provider.sign;
provider.sign = (input) => {
  const signature = sign(input);
  for (const secret of [input.split('.')[1], signature]) secrets.note(secret);
  return signature;
};

/** Notes what passes between browser, provider and Accounts. */
async function returnFrom({ authorizationUrl }: { authorizationUrl: string }): Promise<Response> {
  const callback = provider.authorize(authorizationUrl);
  secrets.note(new URL(authorizationUrl).searchParams.get('nonce'));
  for (const name of ['code', 'state']) secrets.note(callback.searchParams.get(name));
  const response = await fetch(service.url + callback.pathname + callback.search, { redirect: 'manual' });
  for (const { body, headers } of provider.requests) {
    for (const name of ['code', 'code_verifier', 'client_secret']) secrets.note(body.get(name));
    secrets.note(headers.authorization?.replace('Bearer ', ''));
  }
  return response;
}

it('no code, verifier, state, token or secret is in a log, a trace, an event, an email or any table', async () => {
  const domain = aDomain();
  const acme = await addProvider(service, provider, { domains: [domain] });
  const ada = await anAccountOf(service, emailAt(domain));
  Object.assign(provider.recording.userInfo, { email: ada.email, email_verified: true });
  const { app, recoveryCodes } = await protect(service, ada);
  recoveryCodes.forEach((code) => secrets.note(code));
  const confirm = async (): Promise<Confirmed> => {
    const { codeVerifier, ...started } = await startAt(service, acme.name);
    const answer = await returnFrom(started);
    const code = new URL(answer.headers.get('location')!).searchParams.get('code')!;
    secrets.note(code);
    // A browser that repeats the request.
    expect((await returnFrom(started)).status).toBe(400);
    return { code, codeVerifier };
  };

  const pasted = await startAt(service, acme.name, { redirectUri: undefined });
  secrets.note((await (await returnFrom(pasted)).text()).split('\n')[0]);
  const started = await startAt(service, acme.name);
  const callback = `/api/auth/providers/${acme.name}/callback?error=access_denied&state=`;
  const { searchParams } = new URL(started.authorizationUrl);
  const denied = await fetch(service.url + callback + searchParams.get('state'), { redirect: 'manual' });
  expect(denied.headers.get('location')).toContain(`${LOOPBACK}?error=provider_denied`);

  const unfinished = await confirm();
  const otherVerifier = { ...unfinished, codeVerifier: pasted.codeVerifier };
  expect(await finishAt(service, otherVerifier)).toMatchObject(invalidProviderLogin);
  expect(await finishAt(service, unfinished)).toMatchObject(linkRequired);
  expect(await finishAt(service, unfinished, { password: 'not the password' })).toMatchObject(wrongPassword);
  const { password } = ada;
  const wrong = { password, secondFactorCode: 'AAAAA-AAAAA' };
  expect(await finishAt(service, unfinished, wrong)).toMatchObject(invalidSecondFactorCode);
  const right = { password, secondFactorCode: app.next(), refresh: true };
  expect((await finishAt(service, unfinished, right)).status).toBe(200);
  const { text } = await mailServer.next(ada.email);
  expect(text).toContain(`Title of ${acme.name}`);
  expect((await finishAt(service, await confirm(), { secondFactorCode: recoveryCodes[0] })).status).toBe(200);
  await confirm();

  const isTraced = () => receiver.texts.some((trace) => trace.includes('/api/auth/providers/finish'));
  await waitFor('the traces', hangTimeoutMs(), isTraced);
  const stored = await storedTexts(service.db);
  expect(stored.filter((row) => row.includes(domain)).length).toBeGreaterThan(3);
  const leaks = {
    logs: secrets.leaksIn(service.logs),
    traces: secrets.leaksIn(receiver.texts),
    emails: secrets.leaksIn(mailServer.mails.map(({ headers, text: mail }) => headers + mail)),
    // Events and emails to send among them. A hash of a password belongs there.
    tables: secrets.leaksIn(stored).filter((leak) => leak !== '$argon2'),
  };
  expect(leaks).toEqual({ logs: [], traces: [], emails: [], tables: [] });
});
