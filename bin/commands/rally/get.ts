import { getCommand } from '../../mission-command.ts';

export default getCommand('rally');
