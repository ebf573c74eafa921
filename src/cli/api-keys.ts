import { type ApiKeyFilter, ApiKeysRepository, type ListedApiKey } from '../api-keys/api-keys.repository.js';
import { ApiKeyRevocations } from '../api-keys/api-key-revocations.js';
import { isEntityId } from '../identifiers/entity-id.js';
import { timeText } from '../identifiers/text.js';
import { adminApiKeyView } from '../operators/views.js';
import { type Context, findOrg, findUser, printList, withContext } from './command/context.js';
import { CannotRunError, type Invocation, type Report } from './command/definition.js';
import { findService } from './services.js';

export function listApiKeys(invocation: Invocation): Promise<Report> {
  let filter: ApiKeyFilter | undefined;
  return printList<ListedApiKey>(invocation, {
    findPage: async (context, limit, after) => {
      filter ??= await filterOf(context, invocation);
      return context.get(ApiKeysRepository).findPage(filter, limit, after?.id);
    },
    lineOf: apiKeyLine,
    jsonOf: adminApiKeyView,
    none: 'no API keys',
  });
}

function apiKeyLine({ id, audience, role, state, email, orgId, name, lastUsedAt }: ListedApiKey): string {
  const used = lastUsedAt === null ? 'never used' : `used in the hour of ${timeText(lastUsedAt)}`;
  const owner = orgId === null ? email : `${email} in ${orgId}`;
  return `${id}  ${audience}  ${role.padEnd(6)}  ${state.padEnd(9)}  ${owner}  ${used}  ${name}`;
}

export function revokeApiKey(invocation: Invocation): Promise<Report> {
  return withContext(async (context) => {
    const [id = ''] = invocation.parameters;
    const actor = invocation.operator();
    // An operator may give the API key itself, which no output shows.
    if (!isEntityId(id)) throw new CannotRunError('expected the id of an API key');
    const { kind } = await context.get(ApiKeyRevocations).revoke(id, actor);
    if (kind !== 'done') throw new CannotRunError(`there is no API key ${id}, or it was revoked`);
    return { lines: [`${id}: revoked`], json: [{ id, changed: true }] };
  });
}

export function revokeAllApiKeys(invocation: Invocation): Promise<Report> {
  return withContext(async (context) => {
    const filter = await filterOf(context, invocation);
    if (Object.keys(filter).length === 0) throw new CannotRunError('give --user, --org or --service');
    const progress = (revoked: number): void => invocation.showProgress(`${revoked} API keys are revoked`);
    const revoked = await context.get(ApiKeyRevocations).revokeAll(filter, invocation.operator(), progress);
    return { lines: [`${revoked} API keys are revoked`], json: [{ ...filter, revoked }] };
  });
}

/** @throws CannotRunError */
async function filterOf(context: Context, invocation: Invocation): Promise<ApiKeyFilter> {
  const [user, org, service] = ['user', 'org', 'service'].map((name) => invocation.text(name));
  if ([user, org, service].filter((text) => text !== undefined).length > 1)
    throw new CannotRunError('give only one of --user, --org and --service');
  if (user !== undefined) return { userId: (await findUser(context, user)).id };
  if (org !== undefined) return { orgId: (await findOrg(context, org)).id };
  return service === undefined ? {} : { audience: (await findService(context, service)).name };
}
