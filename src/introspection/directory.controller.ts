import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { AllowedServices } from '../access/access.decorators.js';
import type { ServicePrincipal } from '../access/principal.js';
import { requireScope } from '../access/route-access.js';
import { ApiPage, OnlyParameters } from '../http/fields.js';
import { GatedRead } from '../http/read-gate.js';
import { cutPage, encodeCursor, limitOf, type PageQuery, positionOf } from '../http/pages.js';
import { DIRECTORY_PATH } from '../http/paths.js';
import { CurrentService } from '../http/request-origin.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { OrgsRepository } from '../orgs/state/orgs.repository.js';
import { UsersRepository } from '../users/users.repository.js';
import { IDS_EXPECTED, ListDirectoryOrgsQuery, ListDirectoryUsersQuery } from './directory.requests.js';
import { DirectoryOrgsResponse, DirectoryUsersResponse } from './directory.responses.js';

/** What services show to people in place of ids. */
@Controller(DIRECTORY_PATH)
export class DirectoryController {
  constructor(
    private readonly users: UsersRepository,
    private readonly orgs: OrgsRepository,
  ) {}

  /**
   * Look up users
   *
   * @remarks Returns the users with these ids, in any order. Deleted users are left out.
   */
  @Get('users')
  @AllowedServices('directory')
  @OnlyParameters('id')
  @ApiOkResponse({ type: DirectoryUsersResponse })
  @ApiProblems(invalidFields({ id: IDS_EXPECTED }))
  @GatedRead()
  async listDirectoryUsers(@Query() { id: ids }: ListDirectoryUsersQuery): Promise<DirectoryUsersResponse> {
    return { users: await this.users.findInDirectory(ids) };
  }

  /**
   * Look up or list organizations
   *
   * @remarks Returns the organizations with these ids, in any order. Deleted organizations are left out.
   *
   * Without `id`, returns all organizations, in pages. This also requires the scope `directory:all`.
   */
  @Get('orgs')
  @AllowedServices('directory')
  @OnlyParameters('id', 'limit', 'cursor')
  @ApiPage(DirectoryOrgsResponse)
  @ApiProblems(invalidFields({ id: IDS_EXPECTED }))
  @GatedRead()
  async listDirectoryOrgs(
    @CurrentService() service: ServicePrincipal,
    @Query() query: ListDirectoryOrgsQuery,
  ): Promise<DirectoryOrgsResponse> {
    if (query.id !== undefined) return { orgs: await this.orgs.findInDirectory(query.id) };
    requireScope('directory:all', service);
    return this.listAllOrgs(query);
  }

  private async listAllOrgs(query: PageQuery): Promise<DirectoryOrgsResponse> {
    const limit = limitOf(query);
    const rows = await this.orgs.listDirectory(positionOf(query)?.id, limit + 1);
    const cursorOf = ({ id }: { id: string }): string => encodeCursor({ order: 0, id });
    const { page, next } = cutPage(rows, limit, cursorOf);
    return { orgs: page, ...next };
  }
}
