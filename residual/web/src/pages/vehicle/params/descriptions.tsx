import { BookOpen } from 'lucide';
import type { JSX } from 'preact';
import { denied } from '../../../api/node.ts';
import { FileDrop } from '../../../parts/form/file-drop.tsx';
import { upload } from '../../../parts/form/upload.ts';
import { ErrorNote, Note, Unfold } from '../../../parts/parts.tsx';
import { say } from '../../../parts/toast.tsx';
import { useAct } from '../../../parts/use-ask.ts';
import { t } from '../../../strings.ts';

const text = t.vehicle.params.describe;
/** For whoever's browser reaches the internet; the node asks nobody. */
const ARDUPILOT = 'https://autotest.ardupilot.org/Parameters/';

/** Where the texts of the parameters come from that the vehicle does not tell itself: a file, given to the node once. */
export function Descriptions({
  isDescribed,
  onLoaded,
}: {
  readonly isDescribed: boolean;
  readonly onLoaded: () => void;
}): JSX.Element {
  const { busy, error, run } = useAct();
  const closed = denied('params.descriptions.put');
  const take = async (file: File): Promise<void> => {
    const { described } = await upload('params.descriptions.put', {}, file, () => undefined);
    say(text.loaded({ count: described }), 'good');
    onLoaded();
  };
  return (
    <Unfold
      key={String(isDescribed)}
      title={isDescribed ? text.replace : text.title}
      icon={BookOpen}
      open={!isDescribed}
    >
      <p class="hint">
        {text.hint}{' '}
        <a href={ARDUPILOT} target="_blank" rel="noreferrer">
          {text.where}
        </a>
      </p>
      <ErrorNote error={error} />
      {closed === null ? (
        <FileDrop accept=".json,.xz" disabled={busy} onFile={(file) => void run(async () => take(file))}>
          {text.choose}
        </FileDrop>
      ) : (
        <Note>{t.denied[closed]}</Note>
      )}
    </Unfold>
  );
}
