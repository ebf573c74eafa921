import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Public } from '../access/access.decorators.js';
import { ApiProblems } from '../openapi/api-problems.decorator.js';
import { Liveness, Readiness } from './health.responses.js';
import { ReadinessService } from './readiness.service.js';

@ApiTags('Health')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: ReadinessService) {}

  /**
   * Whether the process runs
   *
   * @remarks Checks nothing else, so that an outage of the database does not restart the service.
   */
  @Get('live')
  @Public()
  getLive(): Liveness {
    return { status: 'ok' };
  }

  /**
   * Whether requests can be served
   *
   * @remarks The database answers, its schema is up to date, and no shutdown is under way.
   */
  @Get('ready')
  @Public()
  @ApiProblems({ code: 'unavailable', detail: 'The database cannot be reached.' })
  getReady(): Promise<Readiness> {
    return this.readiness.check();
  }
}
