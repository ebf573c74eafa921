import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operators } from '../../access/access.decorators.js';
import { ApiProblems } from '../../openapi/decorators.js';
import { ServiceStatus } from './dto/status.responses.js';
import { StatusService } from './status.service.js';

@ApiTags('Operators')
@Controller('api/operators/status')
export class StatusController {
  constructor(private readonly status: StatusService) {}

  /**
   * Read the state of the service
   *
   * @remarks Tells what runs, on which database, with which keys, how many mails wait or have failed, and what
   * `GET /health/ready` tells.
   */
  @Get()
  @Operators()
  @ApiProblems({ code: 'unavailable', detail: 'The database cannot be reached.' })
  getStatus(): Promise<ServiceStatus> {
    return this.status.read();
  }
}
