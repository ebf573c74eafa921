import { join } from 'node:path';
import {
  type ArgumentsHost,
  Body,
  Catch,
  Controller,
  type ExceptionFilter,
  HttpCode,
  HttpException,
  Module,
  Post,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigModule } from '../config/config.module.js';
import { parseEnv } from '../config/env.js';
import { DatabaseModule } from '../database/database.module.js';
import { Event } from '../events/event.entity.js';
import { Problem } from '../problems/problem.js';
import { temporaryDirectory } from '../../tooling/processes/at-exit.js';
import { User } from '../users/user.entity.js';
import { giveBackUncounted } from './admissions.js';
import { LiftedLimit } from './lifted-limits.repository.js';
import { RateLimited } from './rate-limit.guard.js';
import { RateLimitsModule } from './rate-limits.module.js';

@Controller()
class AuthController {
  @Post('login')
  @HttpCode(200)
  @RateLimited('login')
  login(@Body() body: unknown): string {
    const { failure } = Object(body) as { failure?: number | string };
    if (typeof failure === 'number') throw new HttpException('as asked', failure);
    if (failure !== undefined) throw new Error(failure);
    return typeof body;
  }

  @Post('register')
  @RateLimited('register')
  register(): string {
    return 'created';
  }

  @Post('free')
  free(): string {
    return 'free';
  }
}

@Module({ imports: [RateLimitsModule], controllers: [AuthController] })
class AuthModule {}

@Catch(Problem)
class ProblemFilter implements ExceptionFilter {
  catch(problem: Problem, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<Reply>();
    reply.code(problem.status).headers(problem.headers).send({ code: problem.code });
  }
}

interface Reply {
  code(status: number): Reply;
  headers(headers: Record<string, string>): Reply;
  send(body: unknown): void;
}

let app: NestFastifyApplication | undefined;

afterEach(() => app?.close());

async function started(variables: Record<string, string> = {}, trustProxy?: string) {
  const env = parseEnv({
    DATABASE_URL: `sqlite:${join(temporaryDirectory('limits'), 'none.sqlite')}`,
    ...variables,
  });
  @Module({
    imports: [
      ConfigModule.forRoot(env),
      DatabaseModule.forRoot({ entities: [Event, LiftedLimit, User] }),
      AuthModule,
    ],
  })
  class AppModule {}
  const adapter = new FastifyAdapter(trustProxy ? { trustProxy } : {});
  app = await NestFactory.create<NestFastifyApplication>(AppModule, adapter, { logger: false });
  giveBackUncounted(app.getHttpAdapter().getInstance());
  app.useGlobalFilters(new ProblemFilter());
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();

  const postText = (path: string, body: string | undefined, headers: Record<string, string> = {}) =>
    fetch(`${url}/${path}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const post = (path: string, email: unknown, headers?: Record<string, string>) =>
    postText(path, JSON.stringify({ email, password: 'x' }), headers);
  return { post, postText };
}

describe('a limited route', () => {
  it('reports the quota with every counted answer, and refuses requests beyond it', async () => {
    const { post } = await started();
    for (let remaining = 9; remaining >= 0; remaining--) {
      const answer = await post('login', 'alice@example.com');
      expect(answer.status).toBe(200);
      expect(answer.headers.get('ratelimit-policy')).toBe('"login";q=10;w=900');
      expect(answer.headers.get('ratelimit')).toMatch(
        new RegExp(`^"login";r=${remaining};t=(900|[78]\\d\\d)$`),
      );
      expect(answer.headers.get('retry-after')).toBeNull();
    }

    const refused = await post('login', 'alice@example.com');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toEqual({ code: 'rate_limited' });
    expect(refused.headers.get('retry-after')).toMatch(/^(900|[78]\d\d)$/);
    expect(refused.headers.get('ratelimit')).toBe(`"login";r=0;t=${refused.headers.get('retry-after')}`);
    expect(refused.headers.get('ratelimit-policy')).toBe('"login";q=10;w=900');
    expect([...refused.headers.keys()].filter((name) => /^x-ratelimit|^retry-after-/.test(name))).toEqual([]);
  });

  it('admits again after waiting for Retry-After', async () => {
    const { post } = await started({ RATE_LIMIT_LOGIN: '1/1s' });
    const login = () => post('login', 'alice@example.com');
    // Together, or a slow machine has them in two windows.
    const [admitted, refused] = (await Promise.all([login(), login()])).toSorted(
      (a, b) => a.status - b.status,
    );
    expect([admitted!.status, refused!.status]).toEqual([200, 429]);
    expect(refused!.headers.get('retry-after')).toBe('1');
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect((await post('login', 'alice@example.com')).status).toBe(200);
  });

  it('counts every spelling of one e-mail together, other e-mails and other limits apart', async () => {
    const { post } = await started({ RATE_LIMIT_LOGIN: '2/15m' });
    expect((await post('login', 'Alice@Example.COM')).status).toBe(200);
    expect((await post('login', 'alice@example.com')).status).toBe(200);
    expect((await post('login', 'ALICE@example.com')).status).toBe(429);
    expect((await post('login', 'bob@example.com')).status).toBe(200);

    const registered = await post('register', 'alice@example.com');
    expect(registered.status).toBe(201);
    expect(registered.headers.get('ratelimit')).toMatch(/^"register";r=4;t=3[56]\d\d$/);
  });

  it('counts exactly when requests arrive together', async () => {
    const { post } = await started();
    const answers = await Promise.all(Array.from({ length: 40 }, () => post('login', 'alice@example.com')));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(10);
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(30);
  });
});

describe('a request that its limit admitted', () => {
  it.each([
    [400, 1],
    [401, 1],
    [500, 0],
    [503, 0],
    ['a broken database', 0],
  ])('with the answer %j counts %d times', async (failure, counted) => {
    const { postText } = await started({ RATE_LIMIT_LOGIN: '2/15m' });
    const login = (fields: object) => postText('login', JSON.stringify({ email: 'a@b.co', ...fields }));

    const failed = await login({ failure });
    expect(failed.status).toBe(typeof failure === 'number' ? failure : 500);
    expect(failed.headers.get('ratelimit')).toMatch(new RegExp(`^"login";r=${2 - counted};t=(900|899)$`));
    expect((await login({})).headers.get('ratelimit')).toMatch(new RegExp(`^"login";r=${1 - counted};`));
  });
});

describe('the client', () => {
  it('is the peer, whatever X-Forwarded-For says', async () => {
    const { post } = await started({ RATE_LIMIT_LOGIN: '1/15m' });
    expect((await post('login', 'a@b.co', { 'x-forwarded-for': '203.0.113.1' })).status).toBe(200);
    expect((await post('login', 'a@b.co', { 'x-forwarded-for': '203.0.113.2' })).status).toBe(429);
  });

  it('is the one that a trusted proxy names, IPv6 by /64', async () => {
    const { post } = await started({ RATE_LIMIT_LOGIN: '1/15m' }, '127.0.0.1');
    const from = async (ip: string) => (await post('login', 'a@b.co', { 'x-forwarded-for': ip })).status;
    expect(await from('203.0.113.1')).toBe(200);
    expect(await from('::ffff:203.0.113.1')).toBe(429);
    expect(await from('2001:db8::1')).toBe(200);
    expect(await from('2001:db8::ffff:2')).toBe(429);
    expect(await from('2001:db8:0:1::1')).toBe(200);
    expect(await from('no address')).toBe(200);
  });
});

describe('a request without a usable e-mail', () => {
  const bodies = [
    'null',
    '[]',
    '"a@b.co"',
    '0',
    'true',
    '{}',
    '["a@b.co"]',
    '[{"email":"a@b.co"}]',
    ...['null', '0', 'true', '{}', '[]', '["a@b.co"]', '""', '"a"', '{"toString":1}'].map(
      (e) => `{"email":${e}}`,
    ),
    '{"email":"\\u0000@b.co"}',
    '{"email":"\\ud800@b.co"}',
    `{"email":"${'a'.repeat(10_000)}@b.co"}`,
    '{"hasOwnProperty":1,"email":{"length":3}}',
  ];

  it('reaches validation uncounted', async () => {
    const { postText } = await started({ RATE_LIMIT_LOGIN: '1/15m' });
    for (const body of [...bodies, ...bodies]) {
      const answer = await postText('login', body);
      expect([body, answer.status]).toEqual([body, 200]);
      expect(answer.headers.has('ratelimit')).toBe(false);
    }
    expect((await postText('login', undefined)).status).toBeLessThan(500);
    expect((await postText('login', '{"__proto__":{"email":"a@b.co"}}')).status).toBe(400);
  });
});

describe('no limit', () => {
  it('applies to a route without the decorator', async () => {
    const { post } = await started({ RATE_LIMIT_LOGIN: '1/15m' });
    for (let i = 0; i < 3; i++) {
      const answer = await post('free', 'a@b.co');
      expect(answer.status).toBe(201);
      expect(answer.headers.has('ratelimit')).toBe(false);
    }
  });

  it('applies when switched off', async () => {
    const { post } = await started({ RATE_LIMIT_LOGIN: 'off', RATE_LIMIT_REGISTER: 'off' });
    for (let i = 0; i < 12; i++) {
      const answer = await post('login', 'a@b.co');
      expect(answer.status).toBe(200);
      expect(answer.headers.has('ratelimit-policy')).toBe(false);
    }
  });
});
