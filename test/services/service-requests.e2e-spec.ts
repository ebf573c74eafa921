import { describe, expect, it } from 'vitest';
import type { ExpectedProblem } from '../support/expected.js';
import { bodyTooLarge, invalidClient, invalidFields, unsupportedMediaType } from '../support/expected.js';
import { anAccount, anUnknownId } from '../support/personas.js';
import { requestBytes, sendBytes } from '../support/connections.js';
import { aServiceCaller, basic } from '../support/services.js';
import { startService } from '../support/service.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const INTROSPECT = '/api/auth/introspect';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const LIMIT = 16 * 1024;

const badRequest: ExpectedProblem = { status: 400, body: { code: 'bad_request' } };
const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64');

const service = await startService();
const billing = await aServiceCaller(service, 'introspect', 'memberships');
const other = await aServiceCaller(service, 'introspect', 'memberships');
const ada = await anAccount(service, 'ada');

describe('a request of an internal service', () => {
  const post = (body: string | Uint8Array<ArrayBuffer>, type = FORM_TYPE) =>
    billing.sendForm<{ active: boolean }>(INTROSPECT, body, type);

  describe('with a form', () => {
    it.each([
      FORM_TYPE,
      `${FORM_TYPE}; charset=UTF-8`,
      `${FORM_TYPE};charset=utf-16`,
      'Application/X-WWW-Form-URLencoded',
      `${FORM_TYPE} ; a=b`,
    ])('is read as %s', async (type) => {
      expect(await post(`token=${ada.token}`, type)).toMatchObject({ status: 200, body: { active: true } });
    });

    it.each([
      'application/json',
      'application/json; charset=utf-8',
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencodedx',
      'form',
      '*/*',
    ])('is read neither without a media type nor as %s', async (type) => {
      const untyped = await billing.send('POST', INTROSPECT, { body: `token=${ada.token}` });
      expect(untyped).toMatchObject(unsupportedMediaType);
      for (const body of [JSON.stringify({ token: ada.token }), `token=${ada.token}`, '', '['])
        expect(await post(body, type), body).toMatchObject({
          ...unsupportedMediaType,
          body: { ...unsupportedMediaType.body, detail: `Send the body as ${FORM_TYPE}.` },
        });
    });

    it.each(
      (
        'token=x&token=y token=x&token=x token=x&%74oken=y token=x&token token=x&orgId=1&orgId=2 ' +
        'token=x&a=1&a=2 token=x&&&a&a token=x&__proto__=1&__proto__=2'
      ).split(' '),
    )('%s repeats a parameter', async (body) => {
      const answer = await post(body);
      expect(answer).toMatchObject(badRequest);
      expect(answer.text).toContain('twice');
    });

    it.each(['', '&', '=', 'token', 'token=', 'Token=x', 'token[]=x', ' token=x', 'x'.repeat(LIMIT)])(
      '%j has no token',
      async (body) => {
        expect(await post(body)).toMatchObject(invalidFields('token'));
      },
    );

    it('has no token where it has no body', async () => {
      expect(await billing.post(INTROSPECT)).toMatchObject(invalidFields('token'));
    });

    it.each(['', 'x', '1', 'null', '%00', '01A1FBF4-7EA2-724E-B0F0-4AD107BA025B', 'x'.repeat(9000)])(
      'has no organization with the id %j',
      async (orgId) => {
        expect(await post(`token=${ada.token}&orgId=${orgId}`)).toMatchObject(invalidFields('orgId'));
      },
    );

    it.each([
      '__proto__=x',
      'constructor=x',
      'toString=x',
      'hasOwnProperty=x',
      'prototype=x',
      'active=true',
      '%ff=%ff',
      'a%00=%00',
      Array.from({ length: 2000 }, (_, n) => `p${n}=`).join('&'),
    ])('ignores %s', async (more) => {
      const answer = await post(`${more}&token=${ada.token}`);
      expect(answer).toMatchObject({ status: 200, body: { active: true, sub: ada.id } });
      expect((await post(`token=x&${more}`)).text).toBe('{"active":false}');
    });

    it.each(['%ff', '%', '%zz', '%c3%28', '+', '%00', '\u00e9', '%F0%9F%98%80', "'; DROP TABLE users --"])(
      'may have %j for a token',
      async (token) => {
        expect((await post(`token=${token}`)).text).toBe('{"active":false}');
      },
    );

    it('has to be UTF-8', async () => {
      for (const wrong of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
        const body = Buffer.concat([Buffer.from(`token=${ada.token}&a=`), Buffer.from(wrong)]);
        expect(await post(new Uint8Array(body))).toMatchObject(badRequest);
      }
    });

    it('may have up to 16 KiB', async () => {
      const body = `token=${ada.token}&a=`;
      expect((await post(body.padEnd(LIMIT, 'x'))).body).toMatchObject({ active: true });
      expect(await post(body.padEnd(LIMIT + 1, 'x'))).toMatchObject(bodyTooLarge);
      expect(await post('&'.repeat(17 * 1024))).toMatchObject(bodyTooLarge);
      const chunks = `400\r\n${'x'.repeat(1024)}\r\n`.repeat(17) + '0\r\n\r\n';
      const headers = [
        `Authorization: ${basic(billing.name, billing.secret)}`,
        `Content-Type: ${FORM_TYPE}`,
        'Transfer-Encoding: chunked',
      ];
      const answer = await sendBytes(service, requestBytes(`POST ${INTROSPECT}`, headers, chunks));
      expect(answer).toMatchObject(bodyTooLarge);
    });

    it('takes nothing from the URL, and repeats nothing of it', async () => {
      for (const query of [`token=${ada.token}`, `orgId=${anUnknownId()}`, 'x=1']) {
        const answer = await billing.sendForm(`${INTROSPECT}?${query}`, `token=${ada.token}`);
        expect(answer).toMatchObject(invalidFields('query'));
        expect(answer.text).not.toContain(ada.token);
      }
    });
  });

  describe('with Basic credentials', () => {
    const requests: [name: string, send: (authorization: string[]) => Promise<unknown>][] = [
      [
        'introspection',
        (authorization) => sendRaw(`POST ${INTROSPECT}`, authorization, `token=${ada.token}`),
      ],
      ['memberships', (authorization) => sendRaw(`GET /api/memberships?userId=${ada.id}`, authorization)],
    ];

    async function sendRaw(line: string, authorization: string[], body = ''): Promise<unknown> {
      const headers = [
        ...authorization.map((value) => `Authorization: ${value}`),
        ...(body === '' ? [] : [`Content-Type: ${FORM_TYPE}`, `Content-Length: ${body.length}`]),
      ];
      const answer = await sendBytes(service, Buffer.from(requestBytes(line, headers, body), 'latin1'));
      for (const secret of [billing.secret, ada.token]) expect(answer?.text).not.toContain(secret);
      return answer;
    }

    it.each<[string, () => string]>([
      ['as they are', () => basic(billing.name, billing.secret)],
      ['of another letter case', () => basic(billing.name, billing.secret).replace('Basic', 'bASIC')],
      ['after several spaces', () => basic(billing.name, billing.secret).replace(' ', '   ')],
      ['form-encoded', () => basic(billing.name.replace('-', '%2D'), billing.secret.replace('_', '%5f'))],
    ])('is let in: %s', async (_what, authorization) => {
      for (const [name, send] of requests)
        expect(await send([authorization()]), name).toMatchObject({ status: 200 });
    });

    it.each<[string, () => string[]]>([
      ['no header', () => []],
      ['an empty header', () => ['']],
      ['the scheme alone', () => ['Basic']],
      ['no colon', () => [`Basic ${base64(billing.name)}`]],
      ['no colon but a secret', () => [`Basic ${base64(billing.secret)}`]],
      ['an empty name', () => [basic('', billing.secret)]],
      ['an empty secret', () => [basic(billing.name, '')]],
      ['two empty halves', () => [basic('', '')]],
      ['bad base64', () => ['Basic !!!!']],
      ['base64url', () => [`Basic ${Buffer.from('\u00ff\u00fe?>').toString('base64url')}`]],
      ['base64 without its padding', () => [basic(billing.name, billing.secret).replace(/=*$/, 'A')]],
      ['white space in base64', () => [basic(billing.name, billing.secret).replace(/.{10}$/, ' $&')]],
      ['a second colon', () => [basic(billing.name, `:${billing.secret}`)]],
      ['a space after the secret', () => [basic(billing.name, `${billing.secret} `)]],
      ['a space before the name', () => [basic(` ${billing.name}`, billing.secret)]],
      ['NUL in the name', () => [basic(`${billing.name}\u0000`, billing.secret)]],
      ['NUL in the secret', () => [basic(billing.name, `${billing.secret}\u0000`)]],
      ['NUL, encoded', () => [basic(`${billing.name}%00`, billing.secret)]],
      ['a % that encodes nothing', () => [basic(`${billing.name}%`, billing.secret)]],
      ['a % that is not UTF-8', () => [basic(`${billing.name}%ff`, billing.secret)]],
      ['the name in capitals', () => [basic(billing.name.toUpperCase(), billing.secret)]],
      ['the name of another', () => [basic(other.name, billing.secret)]],
      ['the name of nobody', () => [basic('nobody', billing.secret)]],
      ['the name of JWT_AUDIENCE', () => [basic('accounts', billing.secret)]],
      ['the secret in capitals', () => [basic(billing.name, billing.secret.toUpperCase())]],
      ['a wrong secret of the right shape', () => [basic(billing.name, `acs_${'A'.repeat(43)}`)]],
      ['half the secret', () => [basic(billing.name, billing.secret.slice(0, 25))]],
      ['the halves exchanged', () => [basic(billing.secret, billing.name)]],
      ['an e-mail and a password', () => [basic(ada.email, ada.password)]],
      ['the secret for a bearer token', () => [`Bearer ${billing.secret}`]],
      ['a bearer token', () => [`Bearer ${ada.token}`]],
      [
        'credentials for a bearer token',
        () => [basic(billing.name, billing.secret).replace('Basic', 'Bearer')],
      ],
      ['another scheme', () => [basic(billing.name, billing.secret).replace('Basic', 'Digest')]],
      ['the same header twice', () => Array(2).fill(basic(billing.name, billing.secret)) as string[]],
      ['Basic and then Bearer', () => [basic(billing.name, billing.secret), `Bearer ${ada.token}`]],
      ['Bearer and then Basic', () => [`Bearer ${ada.token}`, basic(billing.name, billing.secret)]],
      ['both in one header', () => [`${basic(billing.name, billing.secret)}, Bearer ${ada.token}`]],
      ['8 KiB', () => [basic(billing.name, 'x'.repeat(6000))]],
      ['8 KiB before the colon', () => [basic('x'.repeat(6000), billing.secret)]],
    ])('is refused: %s', async (_what, authorization) => {
      for (const [name, send] of requests) {
        const answer = await send(authorization());
        expect(answer, name).toMatchObject(invalidClient);
        expect((answer as { headers: Headers }).headers.get('www-authenticate')).toMatch(/^Basic realm=/);
      }
    });

    it('of 16 KiB is too much for any header', async () => {
      for (const [name, send] of requests)
        expect(await send([basic(billing.name, 'x'.repeat(12_300))]), name).toMatchObject({ status: 431 });
    });
  });

  it('is logged with the name of the service, and with nothing that it sent', async () => {
    const org = anUnknownId();
    const { headers } = await billing.introspect({ token: ada.token, orgId: org });
    const id = headers.get('x-request-id')!;
    const line = await waitFor('the line', hangTimeoutMs(), () =>
      service.logs.find((one) => one.includes(id)),
    );
    expect(JSON.parse(line)).toMatchObject({ route: INTROSPECT, service: billing.name, status: 200 });
    for (const sent of [ada.id, ada.token, org, billing.secret, ada.email]) expect(line).not.toContain(sent);
  });
});
