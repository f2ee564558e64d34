import { missionCommands } from './mission/mission-command.ts';

export default missionCommands('mission');
