import { ApiSchema } from '@nestjs/swagger';
import { ApiId, ApiText } from '../../openapi/decorators.js';

@ApiSchema({ name: 'Org' })
export class OrgResponse {
  @ApiId({ example: '019a8f3e-6a2d-7f10-8b3c-5d7e9f1a2b3c' }) id: string;
  @ApiText(1, 100, { example: 'Analytical Engines' }) name: string;
}
