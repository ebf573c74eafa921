import { isIPv4 } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createParamDecorator, type ExecutionContext, Logger } from '@nestjs/common';
import { type IpAddress, type IpRange, isInRange, parseIpAddress } from '../config/ip-address.js';
import {
  type Origin,
  serviceOf,
  type SignedInOperator,
  type SignInOrigin,
  type UserActor,
  userOf,
} from '../access/principal.js';
import { untrustedProxySeen } from '../telemetry/metrics/measurements.js';

const MAX_HOP_LENGTH = 80;
const BRACKETED = /^\[([^\]]*)\](?::\d{1,5})?$/;
const ADDRESS_WITH_PORT = /^([\d.]+):\d{1,5}$/;

export function trustRanges(ranges: readonly IpRange[]): (hop: string | undefined) => boolean {
  return (hop) => {
    const address = parseHop(hop);
    return address !== undefined && ranges.some((range) => isInRange(address, range));
  };
}

/** Returns the IP address by RFC 5952, without the port that some proxies add; the peer's if the proxies sent none. */
export function clientAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  if (isIPv4(ip)) return ip;
  return (parseHop(ip) ?? parseHop(socket?.remoteAddress))?.toString() ?? '';
}

function parseHop(hop: string | undefined): IpAddress | undefined {
  if (hop === undefined || hop.length > MAX_HOP_LENGTH) return undefined;
  const [, bare = hop] = BRACKETED.exec(hop) ?? ADDRESS_WITH_PORT.exec(hop) ?? [];
  return parseIpAddress(bare);
}

const PROXY_HEADERS = ['X-Forwarded-For', 'Forwarded'];
const WARNING_PERIOD_MS = 3_600_000;

/** Only counts and warns, because any client can send these headers. */
export function noticeUntrustedProxies(fastify: FastifyInstance, trusted: readonly IpRange[]): void {
  const logger = new Logger('Http');
  const isTrusted = trustRanges(trusted);
  let warnedAt = Number.NEGATIVE_INFINITY;
  fastify.addHook('onRequest', ({ headers, socket, routeOptions }, _reply, done) => {
    const header = PROXY_HEADERS.find((name) => headers[name.toLowerCase()] !== undefined);
    const isProbe = routeOptions.url?.startsWith('/health/') === true;
    if (header === undefined || isProbe || isTrusted(socket.remoteAddress)) return done();
    untrustedProxySeen.emit();
    const now = performance.now();
    if (now - warnedAt >= WARNING_PERIOD_MS) {
      warnedAt = now;
      const peer = clientAddress({ ip: '', socket });
      const effect = 'all clients behind it share one rate limit';
      logger.warn(`${header} from ${peer}, which is not in TRUST_PROXY: ${effect}`);
    }
    return done();
  });
}

const MAX_LENGTH = 200;

export function userAgentOf(header: string | undefined): string | null {
  const shown = header?.slice(0, MAX_LENGTH).replaceAll(/\p{Cc}/gu, '');
  return shown?.trim() || null;
}

const CLIENT_ID = /^[A-Za-z\d._:-]{1,128}$/;

/** Clients can repeat an `X-Request-Id`, so do not use it as a key. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && CLIENT_ID.test(given) ? given : randomUUID();
}

export function actorOf(request: FastifyRequest): UserActor {
  return { ...userOf(request), ...originOf(request) };
}

function originOf(request: FastifyRequest): Origin {
  return { requestId: request.id, address: clientAddress(request) };
}

export interface CurrentOrg {
  id: string;
  name: string;
  revision: number;
  secondFactorFrom: number | null;
}

const fromRequest = (read: (request: FastifyRequest) => unknown): (() => ParameterDecorator) =>
  createParamDecorator((_: unknown, context: ExecutionContext) =>
    read(context.switchToHttp().getRequest<FastifyRequest>()),
  );

export const CurrentUser = fromRequest(userOf);

export const CallerIfAny = fromRequest(({ principal }) =>
  principal?.kind === 'user' ? principal : undefined,
);

export const CurrentService = fromRequest(serviceOf);

export const ServiceIfAny = fromRequest(({ principal }) =>
  principal?.kind === 'service' ? principal : undefined,
);

export const CurrentOrg = fromRequest((request) => (request as FastifyRequest & { org: CurrentOrg }).org);

export const CurrentActor = fromRequest(actorOf);

export function operatorOf(request: FastifyRequest): SignedInOperator {
  const { id, email, sessionId } = userOf(request);
  return { kind: 'operator', id, email, sessionId, ...originOf(request) };
}

export const CurrentOperator = fromRequest(operatorOf);

export const RequestOrigin = fromRequest(originOf);

export const RequestSignInOrigin = fromRequest((request): SignInOrigin => ({
  ...originOf(request),
  userAgent: userAgentOf(request.headers['user-agent']),
}));
