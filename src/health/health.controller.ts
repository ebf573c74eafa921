import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../access/access.decorators.js';
import { ApiProblems } from '../openapi/decorators.js';
import { Liveness, Readiness } from './health.responses.js';
import { ReadinessService } from './readiness.service.js';

@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  /**
   * Check whether the process runs
   *
   * @remarks Nothing else is checked, so that an outage of the database does not restart the service.
   */
  @Get('live')
  @Public('operators')
  getLive(): Liveness {
    return { status: 'ok' };
  }

  /**
   * Check whether requests can be served
   *
   * @remarks The status is 200 if the database answers, its schema is up to date, and the service is not shutting
   * down.
   */
  @Get('ready')
  @Public('operators')
  @ApiProblems({ code: 'unavailable', detail: 'The database cannot be reached.' })
  getReady(): Promise<Readiness> {
    return this.readiness.check();
  }
}
