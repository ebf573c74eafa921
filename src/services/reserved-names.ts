import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Env } from '../config/env.js';
import { reservedNames } from './service-name.js';
import { ReservedServiceError } from './services.errors.js';
import { ServicesRepository } from './services.repository.js';

/** Stops the start where JWT_AUDIENCE or JWT_ISSUER was set to the name of a service. */
@Injectable()
export class ReservedNames implements OnModuleInit {
  constructor(
    private readonly services: ServicesRepository,
    private readonly env: Env,
  ) {}

  async onModuleInit(): Promise<void> {
    const reserved = reservedNames(this.env);
    const [name] = await this.services.findExisting([...reserved.keys()]);
    if (name !== undefined) throw new ReservedServiceError(name, reserved.get(name)!);
  }
}
