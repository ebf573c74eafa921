import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operators } from '../../access/access.decorators.js';
import { ApiProblems } from '../../openapi/decorators.js';
import { ApiPage } from '../../http/page-query.decorators.js';
import { type LinkNextPage, NextPage } from '../../http/pages.js';
import { ApiServiceName } from '../operation.decorators.js';
import { ServiceNamePipe } from '../service-name.pipe.js';
import { ListServicesQuery } from './dto/list-services.query.js';
import { ServicesResult, ShownServiceResult } from './dto/service-lookup.responses.js';
import { ServiceLookups } from './service-lookups.js';

@ApiTags('Operators')
@Controller('api/operators/services')
export class ServiceLookupsController {
  constructor(private readonly services: ServiceLookups) {}

  /**
   * List services
   *
   * @remarks Lists all services in order of their names, removed ones too, in pages.
   */
  @Get()
  @Operators()
  @ApiPage(ServicesResult)
  listServices(
    @Query() query: ListServicesQuery,
    @NextPage() linkNextPage: LinkNextPage,
  ): Promise<ServicesResult> {
    return this.services.list(query, linkNextPage);
  }

  /**
   * Read a service
   *
   * @remarks Shows its secrets by their ids and times only: a new one is made by the command line.
   */
  @Get(':name')
  @Operators()
  @ApiServiceName()
  @ApiProblems('service_not_found')
  getService(@Param('name', ServiceNamePipe) name: string): Promise<ShownServiceResult> {
    return this.services.show(name);
  }
}
