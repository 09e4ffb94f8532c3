"""The application of docs/api.md, and its table as it stands on the disk."""

import json
import os


class Application:
    def __init__(self, world):
        self.world = world
        self.path = os.path.join(world.folder, 'table.jsonl')
        source = world.literal('application')
        name = source.split('\n')[0].removeprefix('// ')
        with open(os.path.join(world.folder, name), 'w', encoding='utf-8') as file:
            file.write(source)
        self.process = None

    def start(self):
        self.process = self.world.run_in_background('application-run', log='app.log')

    def _end(self, how):
        # The shell of the block waits for node: both are told.
        os.system(f'pkill -{how} -P {self.process.pid}')
        self.process.wait(30)

    def kill(self):
        self._end('KILL')

    def stop(self):
        self._end('TERM')

    def lose(self):
        os.remove(self.path)

    def table(self):
        """uri -> CID, of the lines that are whole."""
        out = {}
        if not os.path.exists(self.path):
            return out
        with open(self.path, encoding='utf-8') as file:
            lines = file.read().split('\n')[:-1]
        for line in map(json.loads, lines):
            if line.get('cid'):
                out[line['uri']] = line['cid']
            elif 'uri' in line:
                out.pop(line['uri'], None)
            else:
                for uri in [x for x in out if x.startswith(f'at://{line["gone"]}/')]:
                    del out[uri]
        return out

    def truth(self, dids):
        """The network's records of these accounts, and no others."""
        return {f'at://{did}/{path}': cid for did in dids
                for path, cid in self.world.truth(did)['records'].items()}

    def equals(self, dids):
        return self.table() == self.truth(dids)
