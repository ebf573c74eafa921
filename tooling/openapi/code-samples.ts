import type { OpenAPIObject } from '@nestjs/swagger';
import { METHODS, type Operation } from './document-parts.ts';
import { exampleOf } from './successes.ts';

const ORIGIN = 'https://accounts.example.com';

const CLIENT = `import { createClient, unwrap } from 'accounts-client';
import { fileStore } from 'accounts-client/file-store';

const client = createClient({ baseUrl: '${ORIGIN}', store: fileStore('./session') });
`;

const SERVICE = `import { env } from 'node:process';
import { createServiceClient, unwrap } from 'accounts-client/service';

const credentials = { name: 'billing', secret: env.ACCOUNTS_SECRET! };
const service = createServiceClient({ baseUrl: '${ORIGIN}', credentials });
`;

const ORG_ID = "orgId: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c'";
const GRACE = `${ORG_ID}, email: 'grace@example.com', role: 'member'`;
const CHALLENGE = "codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', codeChallengeMethod: 'S256'";
const EXCHANGE =
  "code: '3q2-7wAAAAAhZ0Yx5m8Qb1JkLr9TnVw4cXeSdFgHuIo', codeVerifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'";

const CALLS: Record<string, string> = {
  register: `${CLIENT}const { user } = unwrap(
  await client.register({ email: 'grace@example.com', password: 'a compiler in the attic' }),
);`,
  login: `${CLIENT}const { user } = unwrap(
  await client.login({ email: 'ada@example.com', password: 'correct horse battery' }),
);`,
  refresh: `${CLIENT}// Other calls refresh an expired access token by themselves.
const { token } = unwrap(await client.refresh());`,
  getMe: `${CLIENT}const { user, orgs } = unwrap(await client.getMe({ include: ['roles'] }));`,
  createOrg: `${CLIENT}const { org } = unwrap(await client.createOrg({ name: 'Analytical Engines' }));`,
  getOrg: `${CLIENT}const { org } = unwrap(await client.getOrg({ ${ORG_ID} }));`,
  addMember: `${CLIENT}const { member } = unwrap(await client.addMember({ ${GRACE} }));`,
  createInvitation: `${CLIENT}const { invitation } = unwrap(await client.createInvitation({ ${GRACE} }));`,
  issueCode: `${CLIENT}const { code } = unwrap(
  await client.issueCode({ audience: 'billing', ${CHALLENGE} }),
);`,
  exchangeCode: `${SERVICE}const { token } = unwrap(
  await service.exchangeCode({ ${EXCHANGE} }),
);`,
};

interface Sample {
  lang: string;
  label: string;
  source: string;
}

export function* codeSamples(document: OpenAPIObject): Generator<[Operation, Sample[]]> {
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const operation = item[method];
      const call = CALLS[operation?.operationId ?? ''];
      if (operation === undefined || call === undefined) continue;
      const curl = curlOf(method, path, operation, document);
      yield [
        operation,
        [
          { lang: 'Shell', label: 'curl', source: curl },
          { lang: 'TypeScript', label: 'accounts-client', source: call },
        ],
      ];
    }
}

function curlOf(method: string, path: string, operation: Operation, { components }: OpenAPIObject): string {
  const { requestBody, security = [] } = operation;
  const [{ schema, examples = {} } = {}] = Object.values(
    requestBody && 'content' in requestBody ? requestBody.content : {},
  );
  const named = Object.values(examples).at(-1);
  const body =
    named && 'value' in named ? named.value : schema && exampleOf(schema, components?.schemas ?? {});
  const needs = new Set(security.flatMap((need) => Object.keys(need)));
  const credentials = needs.has('basic') ? ['-u "billing:$ACCOUNTS_SECRET"'] : [];
  const token = needs.has('bearer') ? ['-H "Authorization: Bearer $TOKEN"'] : [];
  return [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} ${ORIGIN}${path.replace('{orgId}', '$ORG_ID')}`,
    ...credentials,
    ...token,
    ...(body ? ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`] : []),
  ].join(' \\\n  ');
}
