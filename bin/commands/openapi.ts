import { Command } from '@oclif/core';
import { openApiDocument } from '../../shared/routes/openapi.ts';
import { ROWS } from '../../shared/routes/table.ts';
import { VERSION } from '../../shared/version.ts';

class OpenApiCommand extends Command {
  static override summary = "Print the OpenAPI 3.1 document of the node's API; needs no running node.";
  static override examples = ['<%= config.bin %> openapi > openapi.json'];

  async run(): Promise<void> {
    await this.parse(OpenApiCommand);
    this.log(JSON.stringify(openApiDocument(ROWS, VERSION), null, 2));
  }
}

export default { openapi: OpenApiCommand };
