import { loadConfig } from '../../shared/config/load.ts';
import { memberOf } from '../../shared/member.ts';
import type { Paths } from '../../shared/paths.ts';
import { auditFiles, auditOfNode } from './audit.ts';
import { type Check, guarded, skip } from './check.ts';
import { checkFiles, readableConfig } from './files.ts';
import { logStoreFile } from './log-store.ts';
import { checkMachine } from './machine.ts';
import { type Api, askNode, checkAnswer, checkLogStore, checkPage } from './node.ts';
import { portIsFree, portIsOurs } from './port.ts';
import { checkSockets } from './sockets.ts';
import { temperatureCheck } from './temperature.ts';

/** All checks of `svc doctor`, in the order of the output. */
export async function examine(paths: Paths, api: Api): Promise<readonly Check[]> {
  const [machine, files, sockets, answer] = await Promise.all([
    checkMachine(),
    checkFiles(paths),
    checkSockets(paths),
    askNode(api, paths.controlSocket),
  ]);
  const { status } = answer;
  const rest = await Promise.all([
    guarded('API port', async () => {
      if (answer.status !== null)
        return portIsOurs(await portInForce(api), await api('GET', '/api/pairing/info'));
      if (answer.why === 'closed to you')
        return skip('API port', 'Only the node can tell who uses it. Use sudo.');
      await readableConfig(paths);
      return portIsFree((await loadConfig(paths)).config.api.port);
    }),
    guarded('audit', async () => auditFiles(paths)),
    ...(status === null ? [] : [guarded('audit of the node', async () => auditOfNode(api))]),
    guarded('log store', async () => (status === null ? logStoreFile(paths.logStore) : checkLogStore(api))),
    ...(status === null ? [] : [guarded('page', async () => checkPage(api))]),
  ]);
  return [...machine, ...files, ...sockets, ...checkAnswer(answer), ...rest];
}

async function portInForce(api: Api): Promise<number> {
  return Number(memberOf(memberOf(await api('GET', '/api/config'), 'api'), 'port'));
}

/** The checks of a node on another machine: only those that the node answers itself. */
export async function examineRemote(api: Api): Promise<readonly Check[]> {
  const answer = await askNode(api, null);
  const here = skip('machine and files', 'They are on the other machine; run svc doctor there.');
  if (answer.status === null) return [here, ...checkAnswer(answer)];
  const { health } = answer.status;
  const value =
    typeof health === 'object' && health !== null && 'temperature' in health ? health.temperature : null;
  return [
    here,
    ...checkAnswer(answer),
    temperatureCheck(typeof value === 'number' ? value : null),
    await guarded('log store', async () => checkLogStore(api)),
    await guarded('page', async () => checkPage(api)),
  ];
}
