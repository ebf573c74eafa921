import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { type Asked, SERVICE, type Spoiled } from './script.ts';
import type { Key } from './subjects.ts';
import type { World } from './world.ts';

const LIFE_SECONDS = 300;

interface Claims {
  iss: string;
  aud: string;
  sub: string;
  sid?: string;
  exp: number;
  [claim: string]: unknown;
}
/** What a token depends on. */
interface Issued {
  session: string | undefined;
  key: string | undefined;
  /** The services that handed it on, the latest last. */
  way: readonly string[];
  viaEpoch: number;
}
interface SigningKey {
  privateKey: KeyObject;
  publicKey: KeyObject;
  jwk: { kid: string; alg: string; use: string; kty: string };
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function aKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const kid = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url');
  return { privateKey, publicKey, jwk: { ...jwk, kty: 'EC', kid, alg: 'ES256', use: 'sig' } };
}

/** The access tokens of a world. The latest key signs, and the earlier ones stay in the key set. */
export class AccessTokens {
  private readonly stranger = aKey();
  private readonly keys = [aKey()];
  /** By what a script asked for, so that a session keeps its token. */
  private readonly kept = new Map<string, string>();
  private readonly issued = new Map<string, Issued>();
  private readonly world: World;
  private readonly issuer: () => string;

  constructor(world: World, issuer: () => string) {
    this.world = world;
    this.issuer = issuer;
  }

  get keySet(): { keys: object[] } {
    return { keys: this.keys.map(({ jwk }) => jwk) };
  }

  addKey(): void {
    this.keys.unshift(aKey());
  }

  of({ session, key, service, claims = {}, header, spoiled, fresh }: Asked): string {
    const asked = JSON.stringify([session, key, service, claims, header, spoiled]);
    const apiKey = key === undefined ? undefined : this.world.keys.get(key)!;
    if (apiKey && !apiKey.via) return spoiled === undefined ? apiKey.text : otherChecksum(apiKey.text);
    const kept = fresh ? undefined : this.kept.get(asked);
    if (kept !== undefined) return kept;
    const now = Math.floor(Date.now() / 1000);
    const times = { iat: now, exp: now + LIFE_SECONDS };
    const own = { sub: `service:${service}`, client_id: service, via_epoch: this.world.viaEpoch };
    const subject = apiKey ? this.claimsOfKey(apiKey) : session === undefined ? own : this.claimsOf(session);
    const given = Object.entries(claims).map(([name, value]) => [name, this.claimOf(value, now)] as const);
    const all = { iss: this.issuer(), aud: SERVICE, jti: randomUUID(), ...times, ...subject };
    const token = this.sign({ ...all, ...Object.fromEntries(given) }, header, spoiled);
    const ofSession = session === undefined ? [service!] : (this.world.sessions.get(session)!.via ?? []);
    const way = apiKey?.via ?? ofSession;
    if (spoiled === undefined && header === undefined)
      this.issued.set(token, { session, key, way, viaEpoch: this.world.viaEpoch });
    this.kept.set(asked, token);
    return token;
  }

  hasIssued(token: string): boolean {
    return this.issued.has(token) || token.startsWith('ack_');
  }

  /** As introspection: undefined if Accounts would not have issued these claims, or if something that they name has ended. */
  liveClaims(token: string): Claims | undefined {
    const apiKey = [...this.world.keys.values()].find(({ text }) => text === token);
    if (apiKey) return this.world.isLiveKey(apiKey) ? this.describe(apiKey) : undefined;
    const issued = this.issued.get(token);
    if (issued === undefined) return undefined;
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Claims;
    const { session, key, way, viaEpoch } = issued;
    const { sessions, users, ends } = this.world;
    const names = [...way, ...(way.length > 0 ? [SERVICE] : [])];
    const calls = names.slice(1).map((name, index) => `${names[index]!} ${name}`);
    if ([...names, ...calls].some((link) => (ends.get(link) ?? 0) > viaEpoch)) return undefined;
    if (claims.iss !== this.issuer() || claims.aud !== SERVICE || !(claims.exp > Date.now() / 1000))
      return undefined;
    if (key !== undefined) {
      const behind = this.world.keys.get(key)!;
      return this.world.isLiveKey(behind) ? { ...claims, ...personOf(behind.user) } : undefined;
    }
    if (session === undefined) return claims;
    const { id, user } = sessions.get(session)!;
    if (claims.sid !== id || claims.sub !== users.get(user)!.id || !this.world.isLive(session))
      return undefined;
    return { ...claims, ...personOf(user) };
  }

  /** As introspection describes an API key. */
  private describe(key: Key): Claims {
    const { exp, user } = key;
    const all = { iss: this.issuer(), aud: SERVICE, client_id: SERVICE, iat: exp - LIFE_SECONDS, exp };
    return { ...all, sub: this.world.users.get(user)!.id, ...personOf(user), key: this.claimOfKey(key) };
  }

  private claimOfKey({ id, role = 'member', org }: Key): object {
    return { id, role, org: org === undefined ? null : this.world.orgs.get(org)!.id };
  }

  private claimsOfKey(key: Key): object {
    const { user, via = [] } = key;
    const way = { client_id: via.at(-1), act: actorOf(via.toReversed()), via_epoch: this.world.viaEpoch };
    return { sub: this.world.users.get(user)!.id, ...way, key: this.claimOfKey(key) };
  }

  private claimsOf(name: string): object {
    const { sessions, users, viaEpoch: via_epoch } = this.world;
    const {
      id: sid,
      user,
      epoch,
      amr = ['pwd'],
      authTime,
      login,
      branch,
      loginId,
      via,
    } = sessions.get(name)!;
    return {
      client_id: via?.at(-1) ?? SERVICE,
      sub: users.get(user)!.id,
      sid,
      login_sid: login === undefined ? loginId : sessions.get(login)!.id,
      ...(branch !== undefined && { branch_sid: sessions.get(branch)!.id }),
      auth_time: authTime,
      amr,
      epoch,
      ...(via && { act: actorOf(via.toReversed()), via_epoch }),
    };
  }

  /** Null leaves the claim out. */
  private claimOf(value: unknown, now: number): unknown {
    if (value === null) return undefined;
    if (typeof value !== 'string') return value;
    const offset = /^now([+-]\d+)$/.exec(value)?.[1];
    return offset === undefined ? this.world.expand(value) : now + Number(offset);
  }

  private sign(claims: object, header: object = {}, spoiled?: Spoiled): string {
    const { privateKey, publicKey, jwk } = this.keys[0]!;
    const alg = spoiled === 'unsigned' ? 'none' : spoiled === 'hs256' ? 'HS256' : 'ES256';
    const input = `${part({ alg, typ: 'at+jwt', kid: jwk.kid, ...header })}.${part(claims)}`;
    if (spoiled === 'unsigned') return `${input}.`;
    if (spoiled === 'hs256') {
      const secret = publicKey.export({ type: 'spki', format: 'pem' });
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
    }
    const key = spoiled === 'stranger' ? this.stranger.privateKey : privateKey;
    const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
    if (spoiled === 'altered') signature[8]! ^= 1;
    return `${input}.${signature.toString('base64url')}`;
  }
}

const personOf = (user: string): object => ({ username: `${user}@example.com`, email_verified: true });

const otherChecksum = (key: string): string => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');

/** The latest service is outermost (RFC 8693). */
function actorOf([latest, ...before]: readonly string[]): object {
  return { sub: `service:${latest}`, ...(before.length > 0 && { act: actorOf(before) }) };
}
