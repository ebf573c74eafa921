import { Injectable } from '@nestjs/common';
import { cutPage, decodeTextCursor, encodeTextCursor, limitOf, type LinkNextPage } from '../../http/pages.js';
import { ServiceSecretsRepository } from '../../services/service-secrets.repository.js';
import { secretView, serviceView } from '../../services/service-views.js';
import { ServicesRepository } from '../../services/services.repository.js';
import { NoSuchServiceError } from '../operators.errors.js';
import type { ListServicesQuery } from './dto/list-services.query.js';
import type { ServicesResult, ShownServiceResult } from './dto/service-lookup.responses.js';

@Injectable()
export class ServiceLookups {
  constructor(
    private readonly services: ServicesRepository,
    private readonly secrets: ServiceSecretsRepository,
  ) {}

  async list(query: ListServicesQuery, linkNextPage: LinkNextPage): Promise<ServicesResult> {
    const { cursor } = query;
    const after = cursor === undefined ? undefined : decodeTextCursor(cursor);
    const limit = limitOf(query);
    const rows = await this.services.findPage(limit + 1, after);
    const { page, next } = cutPage(rows, limit, ({ name }) => encodeTextCursor(name), linkNextPage);
    return { services: page.map(serviceView), ...next };
  }

  /** @throws NoSuchServiceError */
  async show(name: string): Promise<ShownServiceResult> {
    const service = await this.services.find(name);
    if (!service) throw new NoSuchServiceError();
    const secrets = await this.secrets.findOf(service.name);
    return { service: { ...serviceView(service), secrets: secrets.map(secretView) } };
  }
}
