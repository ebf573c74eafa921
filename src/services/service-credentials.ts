import { Injectable } from '@nestjs/common';
import { LastUses } from './last-uses.js';
import { ServiceSecretsRepository } from './service-secrets.repository.js';
import { beginsLikeSecret, hashSecret, isSecret, isServiceName, storedScopes } from './service-secrets.js';
import type { ServicePrincipal } from '../access/principal.js';

const BASIC = /^Basic +([A-Za-z0-9+/]+={0,2})$/i;
const MAX_HEADER_LENGTH = 16_384;
const MAX_HALF_LENGTH = 3 * 47;

interface ShownCredentials {
  name: string | undefined;
  secret: string | undefined;
}

/**
 * RFC 7617 with form-encoded halves (RFC 6749 section 2.3.1), if the password begins like a secret. A half that cannot be
 * right, such as a secret that was cut, is undefined.
 */
export function readCredentials(authorization: string | undefined): ShownCredentials | undefined {
  if (authorization === undefined || authorization.length > MAX_HEADER_LENGTH) return undefined;
  const encoded = BASIC.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) return undefined;
  const text = bytes.toString('latin1');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  const password = text.slice(colon + 1);
  const secret = formDecoded(password) ?? password;
  if (!beginsLikeSecret(secret)) return undefined;
  const name = formDecoded(text.slice(0, colon));
  return {
    name: name !== undefined && isServiceName(name) ? name : undefined,
    secret: isSecret(secret) ? secret : undefined,
  };
}

function formDecoded(text: string): string | undefined {
  if (text.length > MAX_HALF_LENGTH) return undefined;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Caches nothing, so that a revoked secret or a disabled service is rejected at once. */
@Injectable()
export class ServiceCredentials {
  constructor(
    private readonly secrets: ServiceSecretsRepository,
    private readonly uses: LastUses,
  ) {}

  async authenticate(authorization: string | undefined): Promise<ServicePrincipal | undefined> {
    const shown = readCredentials(authorization);
    if (shown?.name === undefined || shown.secret === undefined) return undefined;
    const service = await this.secrets.findServiceOf(hashSecret(shown.secret));
    if (service?.name !== shown.name) return undefined;
    const { secretId: id, lastUsedAt } = service;
    this.uses.note({ id, lastUsedAt }, (...use) => this.secrets.noteUse(...use));
    return { kind: 'service', name: service.name, allow: storedScopes(service.allow), epoch: service.epoch };
  }
}

/** A password that begins like a secret must be right even if credentials are optional. */
export function showsSecret(authorization: string | undefined): boolean {
  return readCredentials(authorization) !== undefined;
}
