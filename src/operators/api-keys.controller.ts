import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Operators } from '../access/access.decorators.js';
import { ApiKeysRepository } from '../api-keys/api-keys.repository.js';
import { KEY_PARAM } from '../api-keys/api-keys.requests.js';
import { ApiKeyRevocations } from '../api-keys/api-key-revocations.js';
import { ApiPage, EntityIdPipe, OK, OkResponse } from '../http/fields.js';
import { cutPage, encodeCursor, limitOf, positionOf } from '../http/pages.js';
import { GatedRead } from '../http/read-gate.js';
import { Problem } from '../problems/problem.js';
import { Change, Operation, type OperatorChange } from './operated-changes.js';
import { ListApiKeysQuery } from './operators.requests.js';
import { AdminApiKeysResponse } from './operators.responses.js';
import { adminApiKeyView } from './views.js';

const UNKNOWN_KEY = { code: 'key_not_found', detail: 'No API key has this id, or it was revoked.' } as const;

@Controller('api/operators/keys')
export class OperatorApiKeysController {
  constructor(
    private readonly keys: ApiKeysRepository,
    private readonly operated: ApiKeyRevocations,
  ) {}

  /**
   * List API keys as operator
   *
   * @remarks Returns the API keys of all users and organizations, latest first, in pages. One filter at most
   * selects those of a user, of an organization or for a service.
   *
   * The API keys of a user include those that act as this user in organizations.
   */
  @Get()
  @Operators()
  @ApiPage(AdminApiKeysResponse)
  @GatedRead()
  async adminListApiKeys(@Query() query: ListApiKeysQuery): Promise<AdminApiKeysResponse> {
    const { userId, orgId, audience } = query;
    const filter = { ...(userId && { userId }), ...(orgId && { orgId }), ...(audience && { audience }) };
    const limit = limitOf(query);
    const rows = await this.keys.findPage(filter, limit + 1, positionOf(query)?.id);
    const { page, next } = cutPage(rows, limit, ({ id }) => encodeCursor({ order: 0, id }));
    return { apiKeys: page.map(adminApiKeyView), ...next };
  }

  /**
   * Revoke an API key as operator
   *
   * @remarks Revokes an API key of a user or of an organization for good.
   *
   * An own API key of an operator is protected. Only this operator and the command line can revoke it.
   */
  @Post(':keyId/revoke')
  @HttpCode(200)
  @Operation(UNKNOWN_KEY, 'operator_protected')
  @ApiParam(KEY_PARAM)
  async adminRevokeApiKey(
    @Param('keyId', EntityIdPipe) keyId: string,
    @Change() { actor }: OperatorChange,
  ): Promise<OkResponse> {
    const { kind } = await this.operated.revoke(keyId, actor);
    if (kind !== 'done') throw new Problem(UNKNOWN_KEY.code, { detail: UNKNOWN_KEY.detail });
    return OK;
  }
}
