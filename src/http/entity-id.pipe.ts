import type { PipeTransform } from '@nestjs/common';
import { isEntityId } from '../identifiers/entity-id.js';

/** Replaces an id of another shape, which may not fit a column, by the empty text, which no row has. */
export class EntityIdPipe implements PipeTransform<string, string> {
  transform(id: string): string {
    return isEntityId(id) ? id : '';
  }
}
