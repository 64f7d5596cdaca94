#include <coppice/coppice.hpp>

int other_unit();

int main() {
    return other_unit();
}
