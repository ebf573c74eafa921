import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { times } from '../support/at-once.js';
import { engine } from '../support/engine.js';
import { anInstallation, type Installation } from '../support/installation.js';
import { anOtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.js';
import { aCode, anAccount, anOrg, aPassword } from '../support/personas.js';
import { aServiceCaller } from '../support/services.js';
import { type Service, startOwnService } from '../support/service.js';
import { exitCode, spawnWithout, untilListening } from '../support/service-process.js';
import { hangTimeoutMs, waitFor } from '../../tooling/wait.js';

const PACKAGES = ['api', 'sdk-trace', 'exporter-trace-otlp-http'].map((name) => `@opentelemetry/${name}`);
const NOBODY_LISTENS = 'http://127.0.0.1:1';
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

function aTrace(sampled = true) {
  const [traceId, parent] = [randomBytes(16).toString('hex'), '00f067aa0ba902b7'];
  return { traceId, parent, traceparent: `00-${traceId}-${parent}-${sampled ? '01' : '00'}` };
}

const receiver = await anOtlpReceiver();
const service = await startOwnService({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
afterAll(async () => {
  await service.stop();
  await receiver.close();
});

describe('the traces', () => {
  const spansOf = (traceId: string): ReceivedSpan[] =>
    receiver.spans.filter((span) => span.traceId === traceId);
  const untilReceived = async (traceId: string, count: number): Promise<ReceivedSpan[]> => {
    await waitFor(`${count} spans`, hangTimeoutMs(), () => spansOf(traceId).length >= count);
    return spansOf(traceId);
  };

  /** The spans of a trace once that of its request is there, which ends last. */
  const untilRequest = async (traceId: string): Promise<ReceivedSpan[]> => {
    const hasEnded = () => spansOf(traceId).some(({ kind }) => kind === SERVER);
    await waitFor('the request', hangTimeoutMs(), hasEnded);
    return spansOf(traceId);
  };

  it('have a span for a request, with the parent that the client named, and one for each of its queries', async () => {
    const ada = await anAccount(service, 'ada');
    const { traceId, parent, traceparent } = aTrace();
    await ada.with({ traceparent }).get('/api/me');

    const spans = await untilReceived(traceId, 3);
    const [request, ...others] = spans.filter(({ kind }) => kind === SERVER);
    const queries = spans.filter(({ kind }) => kind === CLIENT);
    const http = { 'http.request.method': 'GET', 'http.route': '/api/me', 'http.response.status_code': 200 };
    expect(request).toMatchObject({ name: 'GET /api/me', parentSpanId: parent, attributes: http });
    expect(others).toEqual([]);
    const attributes = { 'db.query.text': expect.stringMatching(/^SELECT .*\?/s) };
    const query = { parentSpanId: request!.spanId, links: [], attributes };
    expect(queries).toMatchObject([
      { ...query, name: 'SELECT sessions' },
      { ...query, name: 'SELECT members' },
    ]);
  });

  it('have every statement of a transaction below its request', async () => {
    const ada = await anAccount(service, 'ada');
    const { traceId, traceparent } = aTrace();
    await ada.with({ traceparent }).post('/api/orgs', { name: 'Engines' });

    const spans = await untilRequest(traceId);
    const request = spans.find(({ kind }) => kind === SERVER)!;
    const queries = spans.filter(({ kind }) => kind === CLIENT);
    expect(queries.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['INSERT orgs', 'INSERT members', 'COMMIT']),
    );
    expect(new Set(queries.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([request.spanId]));
  });

  it('have a query that several requests share below one of them, linked to the others', async () => {
    const ada = await anAccount(service, 'ada');
    const each = Array.from({ length: 8 }, () => aTrace());
    await Promise.all(each.map(({ traceparent }) => ada.with({ traceparent }).get('/api/me')));

    const requests = await waitFor('all requests', hangTimeoutMs(), () => {
      const found = each.flatMap(({ traceId }) => spansOf(traceId)).filter(({ kind }) => kind === SERVER);
      return found.length === 8 && found;
    });
    const queries = each.flatMap(({ traceId }) => spansOf(traceId)).filter(({ kind }) => kind === CLIENT);
    for (const name of ['SELECT sessions', 'SELECT members']) {
      const served = queries
        .filter((query) => query.name === name)
        .flatMap(({ parentSpanId, links }) => [parentSpanId].concat(links.map(({ spanId }) => spanId)));
      expect(served.map(String).toSorted(), name).toEqual(requests.map(({ spanId }) => spanId).toSorted());
    }
    for (const query of queries) {
      expect(requests.find(({ spanId }) => spanId === query.parentSpanId)?.traceId).toBe(query.traceId);
    }
  });

  it('begin anew where the client named none, and the log names the trace', async () => {
    const answer = await service.anyone.get<{ requestId: string }>('/api/me');
    const { requestId } = answer.body;
    const line = await waitFor('the line', hangTimeoutMs(), () =>
      service.logs.find((one) => one.includes(requestId)),
    );
    const { traceId } = JSON.parse(line) as { traceId: string };

    const [span] = await untilReceived(traceId, 1);
    expect(span).toMatchObject({ name: 'GET /api/me', attributes: { 'http.response.status_code': 401 } });
    expect(span!.parentSpanId ?? '').toBe('');
  });

  it('have two queries for an introspection, and one of an organization only where it is asked about', async () => {
    const { owner, org } = await anOrg(service);
    const billing = await aServiceCaller(service, 'introspect');
    const { token } = owner;
    // The first use of a secret is noted, behind the request.
    await billing.introspect({ token });
    const queriesOf = async (parameters: Record<string, string>): Promise<string[]> => {
      const { traceId, traceparent } = aTrace();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const body = new URLSearchParams(parameters).toString();
      await billing.with({ traceparent }).send('POST', '/api/auth/introspect', { headers, body });
      const spans = await untilRequest(traceId);
      return spans.flatMap(({ kind, name }) => (kind === CLIENT ? name : []));
    };

    const queries = ['SELECT service_secrets', 'SELECT sessions'];
    expect(await queriesOf({ token })).toEqual(queries);
    expect(await queriesOf({ token, orgId: org.id })).toEqual([...queries, 'SELECT orgs']);
    expect(await queriesOf({ token: 'x.y.z', orgId: org.id })).toEqual(['SELECT service_secrets']);
  });

  it('mark a request that the service failed, and not one that it refused', async () => {
    const ada = await anAccount(service, 'ada');
    const [failed, refused] = [aTrace(), aTrace()];
    await ada.with({ traceparent: refused.traceparent }).get('/api/orgs/nobody');
    await service.db.query('ALTER TABLE members RENAME TO gone');
    await ada.with({ traceparent: failed.traceparent }).post('/api/orgs', { name: 'Engines' });
    await service.db.query('ALTER TABLE gone RENAME TO members');

    expect(await untilReceived(refused.traceId, 1)).toContainEqual(
      expect.objectContaining({ kind: SERVER, status: expect.not.objectContaining({ code: ERROR }) }),
    );
    const spans = await untilRequest(failed.traceId);
    const marked = spans.filter(({ status }) => status.code === ERROR);
    expect(marked.map(({ kind }) => kind)).toEqual(expect.arrayContaining([SERVER, CLIENT]));
  });

  it('leave out a request that its client did not sample', async () => {
    const ada = await anAccount(service, 'ada');
    const [left, taken] = [aTrace(false), aTrace()];
    await ada.with({ traceparent: left.traceparent }).get('/api/me');
    await ada.with({ traceparent: taken.traceparent }).get('/api/me');
    await untilReceived(taken.traceId, 3);
    expect(spansOf(left.traceId)).toEqual([]);
  });

  it('hold no secret, no e-mail and no id, whatever was done', async () => {
    const { owner, member, outsider, org } = await anOrg(service);
    const code = await aCode(owner);
    await service.anyone.post(`/api/auth/code/exchange?code=${code}`, { code });
    await service.anyone.post('/api/auth/login', { email: owner.email, password: aPassword() });
    await service.anyone.get(`/${owner.token}/${owner.email}`);
    const billing = await aServiceCaller(service, 'introspect', 'memberships');
    await billing.introspect({ token: owner.token, orgId: org.id });
    await billing.get(`/api/memberships?orgId=${org.id}&userId=${owner.id}`);
    const { traceId, traceparent } = aTrace();
    await owner.with({ traceparent }).delete(`/api/orgs/${org.id}/members/${member.id}`);
    await untilRequest(traceId);

    const text = receiver.texts.join('\n');
    expect(service.installation.secrets.leaksIn(receiver.texts)).toEqual([]);
    for (const hidden of [owner.email, outsider.email, owner.id, org.id, owner.password, code]) {
      expect(text).not.toContain(hidden);
    }
    expect(text).not.toMatch(/@example\.com/);
  });
});

// Neither tables nor transactions decide.
describe.runIf(engine === 'sqlite')('the exporter of traces', () => {
  let installation: Installation;

  beforeEach(async () => {
    installation = await anInstallation();
  });
  afterEach(() => installation.remove());

  const start = (OTEL_EXPORTER_OTLP_ENDPOINT: string) =>
    startOwnService({ installation, env: { OTEL_EXPORTER_OTLP_ENDPOINT } });

  it('is not loaded by default', async () => {
    const untraced = spawnWithout(PACKAGES, installation, {});
    await untilListening(untraced);
    untraced.child.kill('SIGTERM');
    expect(await exitCode(untraced)).toBe(0);
    const traced = spawnWithout(PACKAGES, installation, { OTEL_EXPORTER_OTLP_ENDPOINT: NOBODY_LISTENS });
    expect(await exitCode(traced)).toBe(1);
  });

  /** More requests than the exporter keeps spans. */
  async function manyRequests(of: Service): Promise<number[]> {
    const ada = await anAccount(of, 'ada');
    const statuses = new Set<number>();
    for (let round = 0; round < 50; round += 1)
      for (const { status } of await Promise.all(times(30, () => ada.get('/api/me')))) statuses.add(status);
    return [...statuses];
  }

  it('that nobody answers fails no request and no stop, and the log says so once', async () => {
    const other = await start(NOBODY_LISTENS);
    expect(await manyRequests(other)).toEqual([200]);
    const warnings = () => other.logs.filter((line) => line.includes('traces cannot be exported'));
    await waitFor('a warning', hangTimeoutMs(), () => warnings().length > 0);
    await other.stop();
    expect(warnings()).toHaveLength(1);
    expect(other.logs.join('\n')).not.toContain('requests are still running');
  });

  it('that hangs fails no request, and a stop does not wait for it', async () => {
    const sockets: Socket[] = [];
    const hanging = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const other = await start(`http://127.0.0.1:${(hanging.address() as AddressInfo).port}`);

    expect(await manyRequests(other)).toEqual([200]);
    await waitFor('an export has begun', hangTimeoutMs(), () => sockets.length > 0);
    await other.stop();
    expect(other.logs.join('\n')).not.toContain('requests are still running');
    for (const socket of sockets) socket.destroy();
    hanging.close();
  });
});
