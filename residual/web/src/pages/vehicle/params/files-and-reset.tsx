import { Download, FileDiff, FileX2, RotateCcw } from 'lucide';
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { NoText, textOf } from '../../../../../../shared/files/text-of.ts';
import { ParamLineError, readParamFile } from '../../../../../../shared/flight/param-file.ts';
import { call } from '../../../api/client.ts';
import { saveText } from '../../../parts/files.ts';
import { forced, GuardNote, useGuarded } from '../../../parts/guarded.tsx';
import { Button, HoldButton, Unfold } from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { t } from '../../../strings.ts';
import type { Param } from '../../../vehicle/param.ts';
import type { ParamFile } from './param-compare.tsx';
import { commaFile, tabFile } from './param-file.ts';
import css from './params.module.css';
import { RebootAutopilot } from './reboot.tsx';

const MAX_BYTES = 1024 * 1024;

/** Files to compare with and to save, and the way back to the factory's values. */
export function FilesAndReset({
  params,
  onFile,
  onReset,
}: {
  readonly params: readonly Param[];
  readonly onFile: (file: ParamFile) => void;
  /** The vehicle has others now. */
  readonly onReset: () => void;
}): JSX.Element {
  const picker = useRef<HTMLInputElement>(null);
  const act = useGuarded();
  const [isReset, setReset] = useState(false);
  const open = async (picked: File): Promise<void> => {
    if (picked.size > MAX_BYTES) {
      say(t.vehicle.params.tooLarge, 'bad');
      return;
    }
    const bytes = new Uint8Array(await picked.arrayBuffer());
    try {
      onFile({ name: picked.name, values: readParamFile(textOf(bytes)) });
    } catch (error) {
      if (!(error instanceof ParamLineError || error instanceof NoText)) throw error;
      say(t.vehicle.params.unread({ name: picked.name, why: error.message }), 'bad');
    }
  };
  const reset = async (force: boolean): Promise<void> => {
    const { reboot_required: reboot } = await call('params.reset.post', { body: forced(force, {}) });
    setReset(true);
    say(reboot === false ? t.vehicle.params.resetDone : t.vehicle.params.resetReboot, 'good');
    onReset();
  };
  return (
    <div class={`card ${css['files']}`}>
      <input
        ref={picker}
        type="file"
        class="visually-hidden"
        tabIndex={-1}
        aria-label={t.vehicle.params.compare}
        accept=".param,.params,.parm,.txt,text/plain"
        onChange={(event) => {
          const [picked] = event.currentTarget.files ?? [];
          if (picked !== undefined) void open(picked);
          event.currentTarget.value = '';
        }}
      />
      {isReset ? <RebootAutopilot /> : null}
      <div class="row">
        <Button icon={FileDiff} onClick={() => picker.current?.click()}>
          {t.vehicle.params.compare}
        </Button>
        <Button
          icon={Download}
          onClick={() =>
            saveText(
              tabFile(params, params.find(({ name }) => name === 'SYSID_THISMAV')?.value ?? 1),
              'vehicle.params',
              'text/plain',
            )
          }
        >
          {t.vehicle.params.saveQgc}
        </Button>
        <Button icon={Download} onClick={() => saveText(commaFile(params), 'vehicle.param', 'text/plain')}>
          {t.vehicle.params.saveMp}
        </Button>
      </div>
      <p class="hint">{t.vehicle.params.filesHint}</p>
      <Unfold title={t.vehicle.params.resetTitle} icon={FileX2}>
        <p>{t.vehicle.params.resetHint}</p>
        <GuardNote act={act} />
        <HoldButton
          kind="danger"
          icon={RotateCcw}
          row="params.reset.post"
          busy={act.busy}
          holdMs={2000}
          onConfirm={() => void act.run(reset)}
        >
          {t.vehicle.params.reset}
        </HoldButton>
      </Unfold>
    </div>
  );
}
