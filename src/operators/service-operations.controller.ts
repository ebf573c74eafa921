import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { SignedInOperator } from '../access/actor.js';
import { CurrentOperator } from '../http/current-operator.decorator.js';
import { OK } from '../http/ok.js';
import { OkResult } from '../http/ok.responses.js';
import { ApiProblems } from '../openapi/decorators.js';
import { ServiceChanges } from '../services/service-changes.js';
import { asProblems } from './as-problems.js';
import { ReasonRequest } from './dto/reason.request.js';
import { ApiServiceName, Operation } from './operation.decorators.js';
import { ServiceNamePipe } from './service-name.pipe.js';

@ApiTags('Operators')
@Controller('api/operators/services/:name')
export class ServiceOperationsController {
  constructor(private readonly services: ServiceChanges) {}

  /**
   * Disable a service
   *
   * @remarks The service is refused from its next request on, and the sessions that codes for it opened end for good. One
   * that is disabled stays so.
   */
  @Post('disable')
  @HttpCode(200)
  @Operation()
  @ApiServiceName()
  @ApiProblems('service_not_found')
  disableService(
    @CurrentOperator() operator: SignedInOperator,
    @Param('name', ServiceNamePipe) name: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResult> {
    return asProblems(this.services.disable(name, { ...operator, reason })).then(() => OK);
  }

  /**
   * Enable a service
   *
   * @remarks The service is accepted again; ended sessions stay ended. One that is not disabled stays as it is.
   */
  @Post('enable')
  @HttpCode(200)
  @Operation()
  @ApiServiceName()
  @ApiProblems('service_not_found', 'service_removed')
  enableService(
    @CurrentOperator() operator: SignedInOperator,
    @Param('name', ServiceNamePipe) name: string,
    @Body() { reason }: ReasonRequest,
  ): Promise<OkResult> {
    return asProblems(this.services.enable(name, { ...operator, reason })).then(() => OK);
  }
}
