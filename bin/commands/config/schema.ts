import { NodeCommand } from '../../node-command.ts';

export default class ConfigSchemaCommand extends NodeCommand {
  static override summary = 'Print the JSON Schema of the configuration: every key, its default, its bounds.';
  static override examples = ['<%= config.bin %> config schema'];

  async run(): Promise<unknown> {
    await this.parse(ConfigSchemaCommand);
    const schema = await this.api('GET', '/api/config/schema');
    this.log(JSON.stringify(schema, null, 2));
    return schema;
  }
}
