import { Controller, Get, HttpCode, Param, type PipeTransform, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { Operators } from '../access/access.decorators.js';
import { GatedRead } from '../http/read-gate.js';
import { ApiPage, OK, OkResponse } from '../http/fields.js';
import { ApiProblems } from '../openapi/decorators.js';
import { cutPage, decodeTextCursor, encodeTextCursor, limitOf } from '../http/pages.js';
import { ServiceChanges } from '../services/service-changes.js';
import { isServiceName, SERVICE_NAME } from '../services/service-secrets.js';
import { ServiceSecretsRepository } from '../services/service-secrets.repository.js';
import { ServicesRepository } from '../services/services.repository.js';
import { Change, Operation, type OperatorChange } from './operated-changes.js';
import { ListServicesQuery } from './operators.requests.js';
import { Problem } from '../problems/problem.js';
import { ServicesResponse, AdminServiceResponse } from './operators.responses.js';
import { secretView, serviceView } from './views.js';

/** Replaces text that is no name, and may not fit a column, by the empty text, which no service is called. */
class ServiceNamePipe implements PipeTransform<string, string> {
  transform(name: string): string {
    return isServiceName(name) ? name : '';
  }
}

const ApiServiceName = (): MethodDecorator =>
  ApiParam({
    name: 'name',
    schema: { type: 'string', pattern: SERVICE_NAME.source },
    description: 'Name of the service.',
  });

@Controller('api/operators/services')
export class OperatorServicesController {
  constructor(
    private readonly services: ServicesRepository,
    private readonly secrets: ServiceSecretsRepository,
    private readonly changes: ServiceChanges,
  ) {}

  /**
   * List services
   *
   * @remarks Returns all services in order of their names, removed ones included, in pages.
   */
  @Get()
  @Operators()
  @ApiPage(ServicesResponse)
  @GatedRead()
  async adminListServices(@Query() query: ListServicesQuery): Promise<ServicesResponse> {
    const after = query.cursor === undefined ? undefined : decodeTextCursor(query.cursor);
    const limit = limitOf(query);
    const rows = await this.services.findPage(limit + 1, after);
    const { page, next } = cutPage(rows, limit, ({ name }) => encodeTextCursor(name));
    return { services: page.map(serviceView), ...next };
  }

  /**
   * Get a service
   *
   * @remarks Returns a service, with the ids and times of its secrets. The command line adds secrets.
   */
  @Get(':name')
  @Operators()
  @ApiServiceName()
  @ApiProblems('service_not_found')
  async adminGetService(@Param('name', ServiceNamePipe) name: string): Promise<AdminServiceResponse> {
    const service = await this.services.find(name);
    if (!service) throw new Problem('service_not_found');
    const secrets = await this.secrets.findOf(service.name);
    return { service: { ...serviceView(service), secrets: secrets.map(secretView) } };
  }

  /**
   * Disable a service
   *
   * @remarks Disables a service: its credentials are rejected from the next request on. Revokes the sessions that
   * codes for it opened.
   *
   * A disabled service stays disabled.
   */
  @Post(':name/disable')
  @HttpCode(200)
  @Operation('service_not_found')
  @ApiServiceName()
  adminDisableService(
    @Param('name', ServiceNamePipe) name: string,
    @Change() { actor }: OperatorChange,
  ): Promise<OkResponse> {
    return this.changes.disable(name, actor).then(() => OK);
  }

  /**
   * Enable a service
   *
   * @remarks Enables a disabled service. Revoked sessions stay revoked.
   *
   * A service that is not disabled stays enabled.
   */
  @Post(':name/enable')
  @HttpCode(200)
  @Operation('service_not_found', 'service_removed')
  @ApiServiceName()
  adminEnableService(
    @Param('name', ServiceNamePipe) name: string,
    @Change() { actor }: OperatorChange,
  ): Promise<OkResponse> {
    return this.changes.enable(name, actor).then(() => OK);
  }
}
