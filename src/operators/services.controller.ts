import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Operators } from '../access/access.decorators.js';
import { GatedRead } from '../http/read-gate.js';
import { ApiNameInPath, ApiPage, NamePipe, OK, OkResponse } from '../http/fields.js';
import { ApiProblems, invalidFields } from '../openapi/decorators.js';
import { cutPage, decodeTextCursor, encodeTextCursor, limitOf } from '../http/pages.js';
import { ServiceCallsRepository } from '../services/service-calls.repository.js';
import { ServiceChanges } from '../services/service-changes.js';
import { SERVICE_NAME, SERVICE_NEEDED } from '../services/service-secrets.js';
import { ServiceSecretsRepository } from '../services/service-secrets.repository.js';
import { ServicesRepository } from '../services/services.repository.js';
import { Change, Operation, type OperatorChange } from './operated-changes.js';
import { AllowCallRequest, ListServicesQuery, REASON_NEEDED } from './operators.requests.js';
import { Problem } from '../problems/problem.js';
import { ServicesResponse, AdminServiceResponse } from './operators.responses.js';
import { secretView, serviceView } from './views.js';

const SERVICE = new NamePipe(SERVICE_NAME);
const ApiServiceName = (): MethodDecorator => ApiNameInPath(SERVICE_NAME, 'Name of the service.');

@Controller('api/operators/services')
export class OperatorServicesController {
  constructor(
    private readonly services: ServicesRepository,
    private readonly secrets: ServiceSecretsRepository,
    private readonly calls: ServiceCallsRepository,
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
   * @remarks Returns a service, with the services that it may call, those that may call it, and the ids and times of its
   * secrets. The command line adds secrets.
   */
  @Get(':name')
  @Operators()
  @ApiServiceName()
  @ApiProblems('service_not_found')
  async adminGetService(@Param('name', SERVICE) name: string): Promise<AdminServiceResponse> {
    const service = await this.services.find(name);
    if (!service) throw new Problem('service_not_found');
    const secrets = await this.secrets.findOf(service.name);
    const neighbours = await this.calls.findNeighbours(service.name);
    return { service: { ...serviceView(service), ...neighbours, secrets: secrets.map(secretView) } };
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
    @Param('name', SERVICE) name: string,
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
    @Param('name', SERVICE) name: string,
    @Change() { actor }: OperatorChange,
  ): Promise<OkResponse> {
    return this.changes.enable(name, actor).then(() => OK);
  }

  /**
   * Allow a call
   *
   * @remarks Allows a service to call another one, for itself and for users whose access tokens it holds.
   *
   * The call has one direction, and does not include what the called service may call. An allowed call stays allowed.
   */
  @Post(':name/calls')
  @HttpCode(200)
  @Operation(
    invalidFields({ to: SERVICE_NEEDED, reason: REASON_NEEDED }),
    'service_not_found',
    'service_removed',
  )
  @ApiServiceName()
  adminAllowCall(
    @Param('name', SERVICE) caller: string,
    @Body() { to }: AllowCallRequest,
    @Change(AllowCallRequest) { actor }: OperatorChange,
  ): Promise<OkResponse> {
    return this.changes.allowCall({ caller, callee: to }, actor).then(() => OK);
  }

  /**
   * Revoke a call
   *
   * @remarks Revokes the calls of a service to another one from the next request on. Every access token for these calls
   * ends, and stays ended if the call is allowed again.
   *
   * A call that is not allowed stays so.
   */
  @Post(':name/calls/:to/revoke')
  @HttpCode(200)
  @Operation('service_not_found')
  @ApiServiceName()
  @ApiNameInPath(SERVICE_NAME, 'Name of the service that is called.', 'to')
  adminRevokeCall(
    @Param('name', SERVICE) caller: string,
    @Param('to', SERVICE) callee: string,
    @Change() { actor }: OperatorChange,
  ): Promise<OkResponse> {
    return this.changes.revokeCall({ caller, callee }, actor).then(() => OK);
  }
}
