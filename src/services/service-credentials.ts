import { Injectable } from '@nestjs/common';
import type { ServicePrincipal } from '../access/service-principal.js';
import { storedScopes } from './allowed-scopes.js';
import { readCredentials } from './basic-credentials.js';
import { hashSecret } from './secret-text.js';
import { SecretUses } from './secret-uses.js';
import { ServiceSecretsRepository } from './service-secrets.repository.js';

/** Tells which service sent a request. Nothing is cached, so what was revoked or disabled is refused at once. */
@Injectable()
export class ServiceCredentials {
  constructor(
    private readonly secrets: ServiceSecretsRepository,
    private readonly uses: SecretUses,
  ) {}

  /** Returns undefined for whatever is no live secret of an enabled service under its own name. */
  async authenticate(authorization: string | undefined): Promise<ServicePrincipal | undefined> {
    const shown = readCredentials(authorization);
    if (shown?.name === undefined) return undefined;
    const holder = await this.secrets.findHolder(hashSecret(shown.secret));
    if (holder?.name !== shown.name) return undefined;
    this.uses.note(holder);
    return { kind: 'service', name: holder.name, allow: storedScopes(holder.allow), epoch: holder.epoch };
  }
}

/** Whether a password has the shape of a secret: then it has to be right, also where credentials are optional. */
export function showsSecret(authorization: string | undefined): boolean {
  return readCredentials(authorization) !== undefined;
}
